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
	int own;
	int err;

	memset(t, 0, offsetof(struct gn_text, buffer));
	t->name = name;
	t->progress = progress;
	err = gn__input_size(fd, name, &t->file_bytes, e);
	if (err)
		return err;
	own = dup(fd);
	/* a duplicate shares its place in the file with the original, which may have been read */
	if (own >= 0 && lseek(own, 0, SEEK_SET) == 0)
		t->gz = gzdopen(own, "rb");
	if (t->gz) {
		gzbuffer(t->gz, 1 << 18);
		return 0;
	}
	err =
	    gn_error_set(e, gn__code_of_errno(errno),
	                 "%s: the file cannot be read as text (%s); raise ulimit -n", name, strerror(errno));
	if (own >= 0)
		close(own);
	return err;
}

void gn__text_close(struct gn_text *t)
{
	if (t->gz)
		gzclose(t->gz);
	t->gz = NULL;
}

static int stream_failed(struct gn_text *t, struct gn_error *e)
{
	int code;
	const char *words = gzerror(t->gz, &code);
	const char *reason = strstr(words, ": "); /* behind zlib's own name for the file */

	if (code == Z_ERRNO)
		return gn_error_set(e, gn__code_of_errno(errno),
		                    "%s: reading near line %llu failed (%s); check the disk", t->name,
		                    (unsigned long long)t->line, strerror(errno));
	return gn_error_set(
	    e, -GN_EBADMSG,
	    "%s: the gzip stream ends or breaks after line %llu (%s); the file is cut or damaged, copy "
	    "it again",
	    t->name, (unsigned long long)t->line, reason ? reason + 2 : words);
}

/* zlib tells of a cut stream only through its error state, and of a shrunken plain file never. */
static int at_end(struct gn_text *t, struct gn_error *e)
{
	int code;

	t->ended = true;
	gzerror(t->gz, &code);
	if (code != Z_OK && code != Z_STREAM_END)
		return stream_failed(t, e);
	if (gzdirect(t->gz) && t->read_bytes < t->file_bytes)
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: the file ends at byte %llu, but it had %llu bytes: it was shortened "
		                    "while it was read; try again when no program writes it",
		                    t->name, (unsigned long long)t->read_bytes,
		                    (unsigned long long)t->file_bytes);
	return 0;
}

static int refill(struct gn_text *t, struct gn_error *e)
{
	int n;

	memmove(t->buffer, t->buffer + t->begin, t->end - t->begin);
	t->end -= t->begin;
	t->begin = 0;
	gn_progress_step(t->progress, "reading", (uint64_t)gzoffset(t->gz), t->file_bytes);
	n = gzread(t->gz, t->buffer + t->end, (unsigned)sizeof t->buffer - 1 - t->end);
	if (n < 0)
		return stream_failed(t, e);
	t->end += (unsigned)n;
	t->read_bytes += (unsigned)n;
	return n ? 0 : at_end(t, e);
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
