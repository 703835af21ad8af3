/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/stream.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zlib.h>

enum {
	MAGIC = 16,
	MOST_LINES = 2 * SIM_STREAM_LANES, /* of an instruction: 16 bytes a lane, each on two lines */
	LINES_A_PAGE = SIM_PAGE_BYTES / SIM_LINE_BYTES
};

/* A launch of the file. */
struct part {
	struct sim_stream_head head;
	const uint8_t *lengths; /* of the codes, a word each */
	const uint8_t *codes;
};

struct sim_stream {
	const uint8_t *bytes;
	size_t size;
	size_t at; /* the next launch */
	uint64_t pages;
	struct part part;
	uint64_t warps;  /* of the largest launch */
	uint64_t *begin; /* of each warp's code among the codes of the launch at hand */
	uint64_t address;
};

/* ---- code ---- */

struct reader {
	const uint8_t *at, *end;
	uint64_t line;
};

struct step {
	uint8_t kind; /* as in the file */
	uint64_t count;
	struct sim_line line[MOST_LINES];
};

/* Returns 0, or -1: it does not end, or is too large. */
static int number(struct reader *r, uint64_t *n)
{
	*n = 0;
	for (uint32_t shift = 0; r->at < r->end && shift < 63; shift += 7) {
		const uint8_t byte = *r->at++;

		*n |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return 0;
	}
	return -1;
}

static int line_bytes(struct reader *r, uint64_t *bytes)
{
	uint32_t first, count;

	*bytes = 0;
	if (r->end - r->at < 2)
		return -1;
	first = *r->at++;
	if (first == 64) {
		if (r->end - r->at < 8)
			return -1;
		memcpy(bytes, r->at, 8);
		r->at += 8;
		return *bytes ? 0 : -1;
	}
	count = *r->at++;
	if (!count || first + count > 64)
		return -1;
	*bytes = UINT64_MAX >> (64 - count) << first;
	return 0;
}

static int lines(struct reader *r, struct step *s)
{
	if (!s->count || s->count > MOST_LINES)
		return -1;
	for (uint64_t k = 0; k < s->count; k++) {
		uint64_t n;

		if (number(r, &n) || line_bytes(r, &s->line[k].bytes))
			return -1;
		r->line += n >> 1 ^ (0 - (n & 1));
		s->line[k].address = r->line * SIM_LINE_BYTES;
	}
	return 0;
}

static int read_step(struct reader *r, struct step *s)
{
	s->count = 0;
	if (r->at == r->end)
		return -1;
	s->kind = *r->at++;
	if (s->kind == 0 || s->kind == 5)
		return 0;
	if (s->kind > 5 || number(r, &s->count) || s->count > UINT32_MAX / 8)
		return -1;
	return s->kind > 2 ? lines(r, s) : 0;
}

/* ---- looking through ---- */

/* A code that can be run: it ends where it should, and lies within the pages. */
static int sound(const uint8_t *code, uint64_t length, uint64_t pages)
{
	struct reader r = {code, code + length, 0};
	struct step s;

	do {
		if (read_step(&r, &s))
			return 0;
		for (uint64_t k = 0; s.kind > 2 && k < s.count; k++)
			if (s.line[k].address / SIM_LINE_BYTES >= pages * LINES_A_PAGE)
				return 0;
	} while (s.kind);
	return r.at == r.end;
}

static uint64_t word(const uint8_t *at)
{
	uint64_t w;

	memcpy(&w, at, sizeof w);
	return w;
}

/* The part at s->at. Returns 0, or -1: it is none. Codes are looked at if `look`. */
static int take(struct sim_stream *s, struct part *p, int look)
{
	size_t left = s->size - s->at;
	const uint8_t *at = s->bytes + s->at;
	uint64_t warps, all = 0;

	if (left < sizeof p->head)
		return -1;
	memcpy(&p->head, at, sizeof p->head);
	at += sizeof p->head;
	left -= sizeof p->head;
	if (p->head.kind == 2) {
		s->at = s->size - left;
		return 0;
	}
	warps = (uint64_t)p->head.blocks * p->head.warps;
	if (p->head.kind != 1 || !warps || p->head.blocks > SIM_STREAM_MOST_BLOCKS ||
	    p->head.warps > SIM_STREAM_MOST_WARPS || p->head.pages > UINT32_MAX ||
	    p->head.name[SIM_STREAM_NAME - 1] || left / 8 < warps)
		return -1;
	p->lengths = at;
	p->codes = at + 8 * warps;
	left -= 8 * warps;
	for (uint64_t k = 0; k < warps; k++) {
		const uint64_t length = word(p->lengths + 8 * k);

		if (length > left - all || (look && !sound(p->codes + all, length, p->head.pages)))
			return -1;
		all += length;
	}
	all += (8 - all % 8) % 8;
	if (all > left)
		return -1;
	s->at = s->size - (left - all);
	return 0;
}

static uint64_t warps_of(const struct sim_stream *s)
{
	return (uint64_t)s->part.head.blocks * s->part.head.warps;
}

static int damaged(const char *name, size_t at, struct gn_error *error)
{
	return gn_error_set(error, -GN_EBADMSG,
	                    "%s: the file is damaged, or cut off, at byte %zu; record it again", name, at);
}

static int look_through(struct sim_stream *s, const char *name, struct gn_error *error)
{
	uint64_t launches = 0;

	if (s->size < MAGIC || memcmp(s->bytes, "grapnel stream 1", MAGIC))
		return gn_error_set(error, -GN_EBADMSG,
		                    "%s: this is not a recorded stream; 'grapnel sim run grapnel-bfs "
		                    "--record FILE' writes one",
		                    name);
	s->at = MAGIC;
	for (;; launches++) {
		const size_t begin = s->at;

		if (take(s, &s->part, 1))
			return damaged(name, begin, error);
		if (s->part.head.kind == 2) {
			if (s->at != s->size || s->part.head.pages != launches ||
			    s->part.head.blocks != (uint32_t)crc32_z(0, s->bytes, begin))
				return damaged(name, begin, error);
			break;
		}
		if (s->part.head.pages > s->pages)
			s->pages = s->part.head.pages;
		if (warps_of(s) > s->warps)
			s->warps = warps_of(s);
	}
	s->at = MAGIC;
	s->begin = (uint64_t *)malloc((s->warps + 1) * sizeof *s->begin);
	return s->begin ? 0 : gn_error_set(error, -GN_ENOMEM, "%s: out of memory", name);
}

int sim_stream_open(struct sim_stream **stream, int fd, const char *name, struct gn_error *error)
{
	struct sim_stream *s = (struct sim_stream *)calloc(1, sizeof *s);
	struct stat facts;
	void *bytes;
	int rc;

	if (!s)
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory", name);
	if (fstat(fd, &facts) || !facts.st_size) {
		free(s);
		return gn_error_set(error, -GN_EBADMSG,
		                    "%s: the file is empty, or is not a regular file; give a recorded stream",
		                    name);
	}
	bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		free(s);
		return gn_error_set(error, -GN_EIO, "%s: the file cannot be read: %s", name, strerror(errno));
	}
	s->bytes = (const uint8_t *)bytes;
	s->size = (size_t)facts.st_size;
	rc = look_through(s, name, error);
	if (rc)
		sim_stream_close(s);
	else
		*stream = s;
	return rc;
}

void sim_stream_close(struct sim_stream *s)
{
	if (!s)
		return;
	munmap((void *)(uintptr_t)s->bytes, s->size);
	free(s->begin);
	free(s);
}

uint64_t sim_stream_pages(const struct sim_stream *s)
{
	return s->pages;
}

int sim_stream_ended(const struct sim_stream *s)
{
	return s->at == s->size;
}

/* ---- running ---- */

static void run_step(struct sim_wave *w, uint64_t address, struct step *s)
{
	switch (s->kind) {
	case 1:
		sim_salu(w, (uint32_t)s->count * SIM_STREAM_SCALAR);
		sim_valu(w, (uint32_t)s->count * SIM_STREAM_VECTOR);
		return;
	case 2: sim_wait(w, (uint32_t)s->count); return;
	case 5: sim_barrier(w); return;
	default:
		for (uint64_t k = 0; k < s->count; k++)
			s->line[k].address += address;
		sim_lines(w, s->kind == 3 ? SIM_OP_LOAD : SIM_OP_STORE, s->line, (uint32_t)s->count);
	}
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct sim_stream *s = (const struct sim_stream *)arguments;
	const uint64_t warp =
	    (uint64_t)sim_wave_group(w, 0) * s->part.head.warps + sim_wave_local(w, 0, 0) / SIM_LANES;
	struct reader r = {s->part.codes + s->begin[warp], s->part.codes + s->begin[warp + 1], 0};
	struct step step;

	while (!read_step(&r, &step) && step.kind)
		run_step(w, s->address, &step);
}

int sim_stream_next(struct sim_stream *s, uint64_t address, struct sim_launch *launch)
{
	const struct sim_stream_head *h = &s->part.head;

	take(s, &s->part, 0);
	if (h->kind == 2)
		return 0;
	s->begin[0] = 0;
	for (uint64_t k = 0; k < warps_of(s); k++)
		s->begin[k + 1] = s->begin[k] + word(s->part.lengths + 8 * k);
	s->address = address;
	memset(launch, 0, sizeof *launch);
	launch->name = h->name;
	launch->kernel = kernel;
	launch->arguments = s;
	launch->group[0] = h->warps * SIM_LANES;
	launch->items[0] = h->blocks * launch->group[0];
	launch->group[1] = launch->items[1] = 1;
	launch->independent = 1; /* it has no values */
	return 1;
}
