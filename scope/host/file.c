/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - reads at random places of a file: through the page cache, around it, mapped, and many at once by
 * io_uring.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <liburing.h>

#include "scope/host/rows.h"
#include "scope/host/spot.h"

/* Each read of a sample has memory of its own, so that all of them can be looked at afterwards. */
enum { READ_BYTES = 16 << 20, MOST_DEPTH = 128 };

enum file_way { PREAD, MMAP, URING };

struct file_row {
	struct scope_row row; /* first */
	enum file_way way;
	bool direct; /* O_DIRECT */
	bool cold;   /* no page of it is in the page cache when a sample begins */
};

struct file {
	const struct file_row *row;
	struct scope_spot spot;
	struct scope_mapping to;
	struct io_uring ring;
	bool ringed;
	uint64_t bytes, slots; /* of a read; of the memory */
	uint32_t depth;
	uint64_t turn;       /* counts samples: each reads elsewhere */
	uint64_t operations; /* of the last */
};

/* ---- plans ---- */

static int file_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const struct file_row *r = (const struct file_row *)row;
	const uint64_t step = m->effort == SCOPE_QUICK ? 32 : m->effort == SCOPE_NORMAL ? 8 : 2;
	int rc = 0;

	if (r->way != URING)
		return scope_plan_sizes(p, 4096, 1 << 20, NULL);
	for (uint64_t depth = 1; depth <= MOST_DEPTH && !rc; depth *= step) {
		const struct scope_arg rest[] = {{"depth", depth}, {NULL, 0}};

		rc = scope_plan_sizes(p, 4096, 1 << 20, rest);
	}
	return rc;
}

/* ---- a sample ---- */

/* Where operation k of a turn reads: the file's pieces of this size, at random. */
static uint64_t place(const struct file *f, uint64_t turn, uint64_t k)
{
	return scope_pattern(turn, k) % (f->spot.bytes / f->bytes) * f->bytes;
}

static char *slot(const struct file *f, uint64_t k)
{
	return (char *)f->to.at + k * f->bytes;
}

static int say(struct gn_error *e, int64_t result, uint64_t bytes)
{
	if (result < 0)
		return gn_error_set(e, -GN_EIO, "the file cannot be read: %s", strerror((int)-result));
	return gn_error_set(e, -GN_EIO, "a read of the file returned %lld of %llu bytes", (long long)result,
	                    (unsigned long long)bytes);
}

static int by_pread(const struct file *f, uint64_t operations, struct gn_error *e)
{
	for (uint64_t k = 0; k < operations; k++) {
		const ssize_t got = pread(f->spot.fd, slot(f, k), f->bytes, (off_t)place(f, f->turn, k));

		if (got != (ssize_t)f->bytes)
			return say(e, got < 0 ? -errno : got, f->bytes);
	}
	return 0;
}

static int by_mapping(const struct file *f, uint64_t operations)
{
	for (uint64_t k = 0; k < operations; k++)
		memcpy(slot(f, k), (const char *)f->spot.mapping + place(f, f->turn, k), f->bytes);
	return 0;
}

static void post(struct file *f, uint64_t k)
{
	struct io_uring_sqe *entry = io_uring_get_sqe(&f->ring);

	io_uring_prep_read(entry, f->spot.fd, slot(f, k), (unsigned)f->bytes, place(f, f->turn, k));
}

/* Takes what has completed, at least one. Returns how many, or a code. */
static int reap(struct file *f, struct gn_error *e)
{
	struct io_uring_cqe *all[MOST_DEPTH];
	unsigned count = io_uring_peek_batch_cqe(&f->ring, all, MOST_DEPTH);
	int rc = 0;

	for (unsigned k = 0; k < count; k++)
		if (all[k]->res != (int)f->bytes)
			rc = say(e, all[k]->res, f->bytes);
	io_uring_cq_advance(&f->ring, count);
	return rc ? rc : (int)count;
}

/* So many are on their way all the time. What is left after a failure ends with the ring. */
static int by_uring(struct file *f, uint64_t operations, struct gn_error *e)
{
	uint64_t posted = 0, done = 0;
	int rc;

	while (done < operations) {
		for (; posted < operations && posted - done < f->depth; posted++)
			post(f, posted);
		rc = io_uring_submit_and_wait(&f->ring, 1);
		if (rc < 0 && rc != -EINTR)
			return gn_error_set(e, -GN_EIO, "io_uring_submit_and_wait: %s", strerror(-rc));
		rc = reap(f, e);
		if (rc < 0)
			return rc;
		done += (uint64_t)rc;
	}
	return 0;
}

static int read_all(struct file *f, uint64_t operations, struct gn_error *e)
{
	switch (f->row->way) {
	case PREAD: return by_pread(f, operations, e);
	case MMAP: return by_mapping(f, operations);
	default: return by_uring(f, operations, e);
	}
}

static int file_sample(void *state, uint64_t operations, struct scope_sample *out, struct gn_error *e)
{
	struct file *f = (struct file *)state;
	double began;
	int rc = 0;

	if (operations > f->slots)
		operations = f->slots;
	if (f->row->cold)
		rc = scope_spot_cool(&f->spot, e);
	if (rc)
		return rc;
	f->turn++;
	f->operations = operations;
	memset(f->to.at, 0, operations * f->bytes);
	began = scope_clock();
	rc = read_all(f, operations, e);
	out->seconds = scope_clock() - began;
	out->operations = operations;
	out->bytes = operations * f->bytes;
	return rc;
}

static int file_verify(void *state, struct gn_error *e)
{
	const struct file *f = (const struct file *)state;

	if (!f->operations)
		return gn_error_set(e, -GN_EIO, "no byte was read");
	for (uint64_t k = 0; k < f->operations; k++) {
		const uint64_t *word = (const uint64_t *)slot(f, k), first = place(f, f->turn, k) / 8;

		for (uint64_t w = 0; w < f->bytes / 8; w++)
			if (word[w] != scope_pattern(SCOPE_SPOT_SEED, first + w))
				return gn_error_set(e, -GN_EIO, "wrong data read at byte %llu of the file",
				                    (unsigned long long)(8 * (first + w)));
	}
	return 0;
}

/* ---- opening ---- */

static void file_close(void *state)
{
	struct file *f = (struct file *)state;

	if (f->ringed)
		io_uring_queue_exit(&f->ring); /* waits for what is on its way */
	scope_spot_close(&f->spot);
	scope_mapping_release(&f->to);
}

static int open_ring(struct file *f, struct gn_error *e)
{
	const int rc = f->row->way == URING ? io_uring_queue_init(MOST_DEPTH, &f->ring, 0) : 0;

	if (rc < 0)
		return gn_error_set(e, rc == -ENOMEM ? -GN_ENOMEM : -GN_ENOTSUP,
		                    "io_uring cannot be used here: %s", strerror(-rc));
	f->ringed = f->row->way == URING;
	return 0;
}

static int file_open(const struct scope_cell *c, const struct scope_machine *m, void *state,
                     struct gn_error *e)
{
	struct file *f = (struct file *)state;
	int rc;

	f->row = (const struct file_row *)c->row;
	f->spot.fd = -1;
	f->bytes = scope_cell_arg(c, "bytes", 0);
	f->depth = (uint32_t)scope_cell_arg(c, "depth", 1);
	f->slots = READ_BYTES / f->bytes;
	rc = open_ring(f, e);
	if (!rc)
		rc = scope_mapping_take(&f->to, READ_BYTES, SCOPE_PAGES_SMALL, SCOPE_ANY_NODE, e);
	if (!rc)
		rc = scope_spot_open(&f->spot, m, f->row->direct, f->row->way == MMAP, e);
	if (!rc && f->row->cold)
		rc = scope_spot_cool(&f->spot, e); /* where that cannot be, there is no such cell */
	return rc;
}

static const struct scope_functions functions = {sizeof(struct file), file_plan,   file_open,
                                                 file_sample,         file_verify, file_close};

#define ROW(name, summary, limit, way, direct, cold)                                                       \
	{                                                                                                  \
		{name, summary, NULL, "none", limit, NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &functions}, \
		    way, direct, cold                                                                      \
	}

static const struct file_row rows[] = {
    ROW("file/pread", "pread at random places, from the page cache", "memory", PREAD, false, false),
    ROW("file/pread-direct", "pread at random places, O_DIRECT", "disk", PREAD, true, false),
    ROW("file/mmap", "memcpy from a mapping at random places, from the page cache", "memory", MMAP, false,
        false),
    ROW("file/mmap-cold", "memcpy from a mapping at random places, no page in memory", "disk", MMAP, false,
        true),
    ROW("file/uring", "io_uring at random places, from the page cache, so many at once", "memory", URING,
        false, false),
    ROW("file/uring-direct", "io_uring at random places, O_DIRECT, so many at once", "disk", URING, true,
        false),
};

const struct scope_row_table scope_file_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
