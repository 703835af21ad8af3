/* SPDX-License-Identifier: Apache-2.0 */
#include "mer/reads.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/unpack.h"

/* What the next character belongs to. */
enum state { RECORD, HEADER, SEQUENCE, PLUS, QUALITY };

struct parser {
	struct mer_reads *reads;
	const char *path;
	struct gn_error *error;
	enum state state;
	char mark; /* what begins a record: '>' or '@'; 0: not seen yet */
	int line_began;
	uint64_t line;
	uint64_t bases, qualities; /* of this record */
	uint64_t capacity;
};

static int wrong(struct parser *p, const char *want)
{
	return gn_error_set(p->error, -GN_EBADMSG,
	                    "%s: line %llu is not %s; give FASTA or FASTQ, plain or gzipped", p->path,
	                    (unsigned long long)p->line, want);
}

static int append(struct parser *p, uint8_t base)
{
	struct mer_reads *r = p->reads;

	if (r->count == p->capacity) {
		const uint64_t capacity = p->capacity ? 2 * p->capacity : 1u << 16;
		uint8_t *more = (uint8_t *)realloc(r->base, capacity);

		if (!more)
			return gn_error_set(p->error, -GN_ENOMEM, "%s: out of memory for %llu bases", p->path,
			                    (unsigned long long)capacity);
		r->base = more;
		p->capacity = capacity;
	}
	r->base[r->count++] = base;
	return 0;
}

static uint8_t base_of(int c)
{
	switch (toupper(c)) {
	case 'A': return 0;
	case 'C': return 1;
	case 'G': return 2;
	case 'T':
	case 'U': return 3;
	default: return MER_BREAK;
	}
}

static int begin_record(struct parser *p, char c)
{
	if (!p->mark && (c == '>' || c == '@'))
		p->mark = c;
	if (c != p->mark)
		return wrong(p,
		             p->mark == '@' ? "a header that begins with @" : "a header that begins with >");
	p->state = HEADER;
	p->bases = p->qualities = 0;
	p->reads->sequences++;
	return 0;
}

/* The sequence is over. */
static int end_sequence(struct parser *p, enum state next)
{
	p->state = next;
	return append(p, MER_BREAK);
}

static int take_base(struct parser *p, char c)
{
	int rc;

	if (p->line_began && p->mark == '>' && c == '>') {
		rc = end_sequence(p, RECORD);
		return rc ? rc : begin_record(p, c);
	}
	if (p->line_began && p->mark == '@' && c == '+')
		return end_sequence(p, PLUS);
	if (!isalpha((unsigned char)c))
		return wrong(p, "a line of bases");
	p->bases++;
	return append(p, base_of((unsigned char)c));
}

static int end_line(struct parser *p)
{
	p->line++;
	if (p->state == HEADER)
		p->state = SEQUENCE;
	else if (p->state == PLUS)
		p->state = QUALITY;
	else if (p->state == QUALITY && p->qualities == p->bases)
		p->state = RECORD;
	return 0;
}

static int take(struct parser *p, char c)
{
	switch (p->state) {
	case RECORD: return begin_record(p, c);
	case SEQUENCE: return take_base(p, c);
	case QUALITY: return ++p->qualities > p->bases ? wrong(p, "as many qualities as bases") : 0;
	default: return 0;
	}
}

static int parse(struct parser *p, const char *text, int length)
{
	int rc = 0;

	for (int k = 0; k < length && !rc; k++) {
		if (text[k] == '\r')
			continue;
		rc = text[k] == '\n' ? end_line(p) : take(p, text[k]);
		p->line_began = text[k] == '\n';
	}
	return rc;
}

static int end(struct parser *p)
{
	if (!p->mark)
		return wrong(p, "a header");
	if (p->state == QUALITY && p->qualities == p->bases)
		return 0;
	if (p->state == SEQUENCE && p->mark == '>')
		return end_sequence(p, RECORD);
	return p->state == RECORD ? 0 : wrong(p, "where a file may end");
}

static int stream_failed(struct parser *p, const struct gn_unpack *file, int code)
{
	if (code != -GN_EBADMSG)
		return gn_error_set(p->error, code, "%s: the file cannot be read (%s); give a regular file",
		                    p->path, file->why);
	return gn_error_set(p->error, code,
	                    "%s: the gzip stream ends or breaks after line %llu (%s); the file is cut or "
	                    "damaged, copy it again",
	                    p->path, (unsigned long long)p->line, file->why);
}

static int parse_all(struct parser *p, struct gn_unpack *file)
{
	enum { PIECE = 1 << 18 };
	char *text = (char *)malloc(PIECE);
	uint32_t got = 1;
	int rc = text ? 0 : gn_error_set(p->error, -GN_ENOMEM, "%s: out of memory to read the file", p->path);

	while (!rc && got) {
		const int code = gn__unpack_read(file, text, PIECE, &got);

		rc = code ? stream_failed(p, file, code) : parse(p, text, (int)got);
	}
	free(text);
	return rc ? rc : end(p);
}

static int read_file(struct parser *p, int fd)
{
	struct gn_unpack *file = (struct gn_unpack *)calloc(1, sizeof *file);
	int rc;

	if (!file)
		return gn_error_set(p->error, -GN_ENOMEM, "%s: out of memory to read the file", p->path);
	rc = gn__unpack_open(file, fd);
	rc = rc ? stream_failed(p, file, rc) : parse_all(p, file);
	gn__unpack_close(file);
	free(file);
	return rc;
}

int mer_reads_load(struct mer_reads *r, const char *path, struct gn_error *e)
{
	struct parser p;
	int fd, rc;

	memset(r, 0, sizeof *r);
	memset(&p, 0, sizeof p);
	p.reads = r;
	p.path = path;
	p.error = e;
	p.line = p.line_began = 1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gn_error_set(e,
		                    errno == ENOENT   ? -GN_ENOENT
		                    : errno == EACCES ? -GN_EACCES
		                                      : -GN_EIO,
		                    "%s: the file cannot be opened (%s); check the name", path,
		                    strerror(errno));
	rc = read_file(&p, fd);
	close(fd);
	return rc;
}

void mer_reads_fini(struct mer_reads *r)
{
	free(r->base);
	memset(r, 0, sizeof *r);
}
