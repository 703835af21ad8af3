/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

int gn__text_open(struct gn_text *t, int fd, const char *name, const struct gn_progress *progress,
                  struct gn_error *e)
{
	int err;

	memset(t, 0, offsetof(struct gn_text, buffer));
	t->name = name;
	t->progress = progress;
	err = gn__input_size(fd, name, &t->file_bytes, e);
	if (err)
		return err;
	err = gn__unpack_open(&t->file, fd);
	return err ? gn_error_set(e, err, "%s: the file cannot be read as text (%s)", name, t->file.why) : 0;
}

void gn__text_close(struct gn_text *t)
{
	gn__unpack_close(&t->file);
}

static int stream_failed(struct gn_text *t, int code, struct gn_error *e)
{
	if (code != -GN_EBADMSG)
		return gn_error_set(e, code, "%s: reading near line %llu failed (%s); check the disk",
		                    t->name, (unsigned long long)t->line, t->file.why);
	return gn_error_set(
	    e, code,
	    "%s: the gzip stream ends or breaks after line %llu (%s); the file is cut or damaged, copy "
	    "it again",
	    t->name, (unsigned long long)t->line, t->file.why);
}

static int at_end(struct gn_text *t, struct gn_error *e)
{
	t->ended = true;
	if (t->file.taken >= t->file_bytes)
		return 0;
	return gn_error_set(e, -GN_EBADMSG,
	                    "%s: the file ends at byte %llu, but it had %llu bytes: it was shortened "
	                    "while it was read; try again when no program writes it",
	                    t->name, (unsigned long long)t->file.taken, (unsigned long long)t->file_bytes);
}

static int refill(struct gn_text *t, struct gn_error *e)
{
	uint32_t got;
	int code;

	memmove(t->buffer, t->buffer + t->begin, t->end - t->begin);
	t->end -= t->begin;
	t->begin = 0;
	gn_progress_step(t->progress, "reading", t->file.taken, t->file_bytes);
	code = gn__unpack_read(&t->file, t->buffer + t->end, (unsigned)sizeof t->buffer - 1 - t->end, &got);
	if (code)
		return stream_failed(t, code, e);
	t->end += got;
	return got ? 0 : at_end(t, e);
}

/* The line from begin to the character end, which becomes its terminator. */
static int take(struct gn_text *t, char *end, unsigned skip, char **line, struct gn_error *e)
{
	*line = t->buffer + t->begin;
	t->begin = (unsigned)(end - t->buffer) + skip;
	t->line++;
	if (end > *line && end[-1] == '\r')
		end--;
	*end = '\0';
	if (strlen(*line) != (size_t)(end - *line))
		return gn__text_fail(t, *line, "text without zero bytes", e);
	return 1;
}

int gn__text_line(struct gn_text *t, char **line, struct gn_error *e)
{
	for (;;) {
		unsigned have = t->end - t->begin;
		char *end = have ? (char *)memchr(t->buffer + t->begin, '\n', have) : NULL;
		int err;

		if (end)
			return take(t, end, 1, line, e);
		if (t->ended)
			return have ? take(t, t->buffer + t->end, 0, line, e) : 0;
		if (have > GN_TEXT_LINE_MAX) {
			t->line++;
			return gn__text_fail(t, t->buffer + t->begin, "a line of fewer than 65536 characters",
			                     e);
		}
		err = refill(t, e);
		if (err)
			return err;
	}
}

int gn__text_fail(const struct gn_text *t, const char *line, const char *want, struct gn_error *e)
{
	char quote[41];
	size_t n;

	for (n = 0; n < sizeof quote - 1 && line[n]; n++)
		quote[n] = line[n] >= ' ' && line[n] < 127 ? line[n] : '?';
	quote[n] = '\0';
	return gn_error_set(e, -GN_EBADMSG, "%s: line %llu: \"%s%s\" is not %s; correct or remove the line",
	                    t->name, (unsigned long long)t->line, quote, n == sizeof quote - 1 ? "..." : "",
	                    want);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

bool gn__field_end(const char **p)
{
	while (blank(**p))
		(*p)++;
	return **p == '\0';
}

/* A number ends at a blank or at the end: "12x" is none. */
static bool ends(const char *p)
{
	return blank(*p) || *p == '\0';
}

bool gn__field_u64(const char **p, uint64_t *value)
{
	uint64_t sum = 0;

	if (gn__field_end(p) || **p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		unsigned digit = (unsigned)(**p - '0');

		if (sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return ends(*p);
}

bool gn__field_i32(const char **p, int32_t *value)
{
	bool negative;
	uint64_t size;

	if (gn__field_end(p))
		return false;
	negative = **p == '-';
	if (**p == '-' || **p == '+')
		(*p)++;
	if (blank(**p) || !gn__field_u64(p, &size) || size > (uint64_t)INT32_MAX + negative)
		return false;
	*value = (int32_t)(negative ? -(int64_t)size : (int64_t)size);
	return true;
}

bool gn__field_f32(const char **p, float *value)
{
	char *end;

	if (gn__field_end(p))
		return false;
	*value = strtof(*p, &end);
	if (end == *p || !isfinite(*value))
		return false;
	*p = end;
	return ends(*p);
}
