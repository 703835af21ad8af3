/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/hello.h>

#include <string.h>

static const char magic[4] = {'G', 'N', 'R', 'D'};
enum { BLOCK_LEAST = 16, BLOCK_MOST = 4096 };

static void put(uint8_t *to, uint64_t value, unsigned bytes)
{
	for (unsigned k = 0; k < bytes; k++)
		to[k] = (uint8_t)(value >> 8 * k);
}

static uint64_t get(const uint8_t *from, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned k = 0; k < bytes; k++)
		value |= (uint64_t)from[k] << 8 * k;
	return value;
}

int gn_hello_is_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
	const size_t length = strlen(name);

	return length && length <= GN_HELLO_NAME && strspn(name, letters) == length;
}

static void put_head(uint8_t *data, size_t bytes)
{
	memset(data, 0, bytes);
	memcpy(data, magic, sizeof magic);
	put(data + 4, GN_HELLO_VERSION, 2);
}

/* Is this a message of Grapnel's, of so many bytes at least? */
static int has_head(const void *data, size_t bytes, size_t least)
{
	return data && bytes >= least && !memcmp(data, magic, sizeof magic);
}

void gn_hello_put_request(uint8_t *data, const struct gn_hello_request *request)
{
	const size_t length = strlen(request->name);

	put_head(data, GN_HELLO_REQUEST_BYTES);
	put(data + 6, request->flags, 2);
	put(data + 8, request->session, 8);
	put(data + 16, request->index, 2);
	data[18] = (uint8_t)length;
	memcpy(data + 20, request->name, length);
}

int gn_hello_get_request(const void *data, size_t bytes, struct gn_hello_request *request)
{
	const uint8_t *from = (const uint8_t *)data;

	memset(request, 0, sizeof *request);
	if (!has_head(data, bytes, GN_HELLO_REQUEST_BYTES))
		return -GN_EBADMSG;
	if (get(from + 4, 2) != GN_HELLO_VERSION)
		return -GN_ENOTSUP;
	request->flags = (uint16_t)get(from + 6, 2);
	request->session = get(from + 8, 8);
	request->index = (uint16_t)get(from + 16, 2);
	if (from[18] > GN_HELLO_NAME)
		return -GN_EBADMSG;
	memcpy(request->name, from + 20, from[18]);
	return strlen(request->name) == from[18] && gn_hello_is_name(request->name) ? 0 : -GN_EBADMSG;
}

void gn_hello_put_answer(uint8_t *data, const struct gn_hello_answer *answer)
{
	put_head(data, GN_HELLO_ANSWER_BYTES);
	put(data + 6, answer->flags, 2);
	put(data + 8, answer->address, 8);
	put(data + 16, answer->bytes, 8);
	put(data + 24, answer->instance, 8);
	put(data + 32, answer->key, 4);
	put(data + 36, answer->block, 4);
}

static int is_sound(const struct gn_hello_answer *a)
{
	return a->bytes && a->address <= UINT64_MAX - a->bytes && a->block >= BLOCK_LEAST &&
	       a->block <= BLOCK_MOST && !(a->block & (a->block - 1));
}

int gn_hello_get_answer(const void *data, size_t bytes, struct gn_hello_answer *answer)
{
	const uint8_t *from = (const uint8_t *)data;

	memset(answer, 0, sizeof *answer);
	if (!has_head(data, bytes, GN_HELLO_ANSWER_BYTES))
		return -GN_EBADMSG;
	if (get(from + 4, 2) != GN_HELLO_VERSION)
		return -GN_ENOTSUP;
	answer->flags = (uint16_t)get(from + 6, 2);
	answer->address = get(from + 8, 8);
	answer->bytes = get(from + 16, 8);
	answer->instance = get(from + 24, 8);
	answer->key = (uint32_t)get(from + 32, 4);
	answer->block = (uint32_t)get(from + 36, 4);
	return is_sound(answer) ? 0 : -GN_EBADMSG;
}

void gn_hello_put_refusal(uint8_t *data, const char *text)
{
	size_t length = strlen(text);

	if (length > GN_HELLO_TEXT)
		length = GN_HELLO_TEXT;
	put_head(data, GN_HELLO_REFUSAL_BYTES);
	put(data + 6, length, 2);
	memcpy(data + 8, text, length);
}

int gn_hello_get_refusal(const void *data, size_t bytes, char text[GN_HELLO_TEXT + 1])
{
	const uint8_t *from = (const uint8_t *)data;
	size_t length;

	text[0] = '\0';
	if (!has_head(data, bytes, GN_HELLO_REFUSAL_BYTES))
		return -GN_EBADMSG;
	length = (size_t)get(from + 6, 2);
	if (length > GN_HELLO_TEXT)
		return -GN_EBADMSG;
	for (size_t k = 0; k < length; k++)
		text[k] = from[8 + k] < ' ' || from[8 + k] > '~' ? '?' : (char)from[8 + k];
	text[length] = '\0';
	return 0;
}

void gn_hello_put_note(uint8_t *data, const struct gn_hello_note *note)
{
	memcpy(data, magic, sizeof magic);
	put(data + 4, note->kind, 4);
	put(data + 8, note->number, 4);
	put(data + 12, (uint32_t)note->code, 4);
}

int gn_hello_get_note(const void *data, size_t bytes, struct gn_hello_note *note)
{
	const uint8_t *from = (const uint8_t *)data;

	memset(note, 0, sizeof *note);
	if (bytes != GN_HELLO_NOTE_BYTES || !has_head(data, bytes, GN_HELLO_NOTE_BYTES))
		return -GN_EBADMSG;
	note->kind = (uint32_t)get(from + 4, 4);
	note->number = (uint32_t)get(from + 8, 4);
	note->code = (int32_t)get(from + 12, 4);
	return note->kind < GN_HELLO_FLUSH || note->kind > GN_HELLO_DONE ? -GN_EBADMSG : 0;
}
