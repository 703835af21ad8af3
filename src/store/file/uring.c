/* SPDX-License-Identifier: Apache-2.0 */
#include <store/file/file.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <liburing.h>

#include <grapnel/nvme.h>

enum { ENTRIES = 256, BATCH = 64, BUFFERS_MOST = 1024 };
#define BUFFER_MOST ((size_t)1 << 30) /* the most bytes that the kernel registers in one piece */

struct uring {
	struct gn_engine base; /* first */
	struct io_uring ring;
	const struct gn_file_target *target;
	struct gn_request_list todo;
	uint32_t queued;    /* prepared, not submitted */
	uint32_t in_flight; /* submitted */
	int disabled;       /* 1: the ring is not enabled yet, because its owner thread has not come */
	int fixed_files;
	uint32_t buffers; /* number of registered buffers; 0 if the system does not permit it */
	struct iovec buffer[];
};

static struct uring *uring_of(struct gn_engine *engine)
{
	return (struct uring *)engine;
}

/*
 * The index of the registered buffer that holds a request's only segment: the buffer of its queue. -1: there
 * is none, or the request has several segments.
 */
static int find_buffer(const struct uring *u, const struct gn_request *r)
{
	const struct iovec *s = &r->segment[r->first], *b;
	size_t at;

	if (r->segments - r->first != 1 || r->port >= u->buffers)
		return -1;
	b = &u->buffer[r->port];
	at = (size_t)((char *)s->iov_base - (char *)b->iov_base);
	return at < b->iov_len && s->iov_len <= b->iov_len - at ? (int)r->port : -1;
}

static void prepare_transfer(struct uring *u, struct io_uring_sqe *sqe, struct gn_request *r, int fd)
{
	const struct iovec *s = &r->segment[r->first];
	int buffer = find_buffer(u, r), is_read = r->opcode == GN_NVME_READ;

	if (buffer >= 0 && is_read)
		io_uring_prep_read_fixed(sqe, fd, s->iov_base, (unsigned)s->iov_len, r->offset, buffer);
	else if (buffer >= 0)
		io_uring_prep_write_fixed(sqe, fd, s->iov_base, (unsigned)s->iov_len, r->offset, buffer);
	else if (is_read)
		io_uring_prep_readv(sqe, fd, s, r->segments - r->first, r->offset);
	else
		io_uring_prep_writev(sqe, fd, s, r->segments - r->first, r->offset);
}

static void prepare(struct uring *u, struct io_uring_sqe *sqe, struct gn_request *r)
{
	int which = r->opcode == GN_NVME_FLUSH ? GN_FILE_BUFFERED : gn_file_target_choose(u->target, r);
	int fd = u->fixed_files ? which : u->target->fd[which];

	if (r->opcode == GN_NVME_FLUSH)
		io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
	else
		prepare_transfer(u, sqe, r, fd);
	if (u->fixed_files)
		sqe->flags |= IOSQE_FIXED_FILE;
	io_uring_sqe_set_data(sqe, r);
}

static void own(struct uring *u)
{
	if (u->disabled) {
		/*
		 * The call of io_uring_enable_rings: the library of Debian 12 does not export the function.
		 */
		io_uring_register((unsigned)u->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
		u->disabled = 0;
	}
}

static void uring_start(struct gn_engine *engine, struct gn_request *r)
{
	if (r->bytes || r->opcode == GN_NVME_FLUSH)
		gn_request_push(&uring_of(engine)->todo, r);
	else
		gn_request_push(&engine->finished, r);
}

static void finish(struct uring *u, struct gn_request *r, int result)
{
	if (r->opcode == GN_NVME_FLUSH)
		r->status = result < 0 ? (uint32_t)GN_NVME_WRITE_FAULT : (uint32_t)GN_NVME_OK;
	else if (!gn_file_target_moved(u->target, r, result)) {
		gn_request_push(&u->todo, r);
		return;
	}
	gn_request_push(&u->base.finished, r);
}

static void reap(struct uring *u)
{
	struct io_uring_cqe *cqe[BATCH];
	unsigned n;

	while ((n = io_uring_peek_batch_cqe(&u->ring, cqe, BATCH))) {
		for (unsigned k = 0; k < n; k++)
			finish(u, (struct gn_request *)io_uring_cqe_get_data(cqe[k]), cqe[k]->res);
		io_uring_cq_advance(&u->ring, n);
		u->in_flight -= n;
	}
}

/* Make submission entries for waiting requests while there is room. */
static void fill(struct uring *u)
{
	struct io_uring_sqe *sqe;

	while (u->todo.first && (sqe = io_uring_get_sqe(&u->ring))) {
		prepare(u, sqe, gn_request_pop(&u->todo));
		u->queued++;
	}
}

static void note_submitted(struct uring *u, int n)
{
	if (n > 0) {
		u->queued -= (uint32_t)n;
		u->in_flight += (uint32_t)n;
	}
}

static void uring_turn(struct gn_engine *engine, uint64_t wait_ns)
{
	struct uring *u = uring_of(engine);
	struct __kernel_timespec time = {0, (long long)wait_ns};
	struct io_uring_cqe *cqe;

	own(u);
	fill(u);
	if (u->queued)
		note_submitted(u, io_uring_submit(&u->ring));
	reap(u);
	if (engine->finished.first || !wait_ns || !(u->in_flight + u->queued))
		return;
	note_submitted(u, io_uring_submit_and_wait_timeout(&u->ring, &cqe, 1, &time, NULL));
	reap(u);
}

static void uring_close(struct gn_engine *engine)
{
	struct uring *u = uring_of(engine);

	io_uring_queue_exit(&u->ring);
	free(u);
}

static const struct gn_engine_ops uring_ops = {uring_start, uring_turn, uring_close};

/* Try the newest flags first: an old kernel refuses flags that it does not know. */
static int open_ring(struct uring *u, uint32_t in_flight)
{
	static const unsigned flags[] = {
	    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
	        IORING_SETUP_R_DISABLED,
	    IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
	    0,
	};
	int rc = -ENOSYS;

	for (unsigned k = 0; k < sizeof flags / sizeof flags[0]; k++) {
		struct io_uring_params params;

		memset(&params, 0, sizeof params);
		params.flags = flags[k] | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
		params.cq_entries = in_flight < ENTRIES ? (uint32_t)ENTRIES : in_flight;
		rc = io_uring_queue_init_params(ENTRIES, &u->ring, &params);
		u->disabled = !rc && flags[k] & IORING_SETUP_R_DISABLED;
		if (rc != -EINVAL)
			break;
	}
	/* From Linux 5.11 on a wait with a time limit needs no submission entry of its own. */
	if (!rc && !(u->ring.features & IORING_FEAT_EXT_ARG)) {
		io_uring_queue_exit(&u->ring);
		rc = -ENOSYS;
	}
	return rc;
}

/* Register files and buffers. Both save work in the kernel for every transfer; neither is required. */
static void register_all(struct uring *u, const struct gn_nvmeq *queue, uint32_t count)
{
	u->fixed_files = !io_uring_register_files(&u->ring, u->target->fd, GN_FILE_DESCRIPTORS);
	for (uint32_t k = 0; k < count; k++) {
		u->buffer[k].iov_base = queue[k].buffer;
		u->buffer[k].iov_len = (size_t)queue[k].depth * queue[k].buffer_bytes;
		if (u->buffer[k].iov_len > BUFFER_MOST)
			return;
	}
	if (count <= BUFFERS_MOST && !io_uring_register_buffers(&u->ring, u->buffer, count))
		u->buffers = count;
}

int gn_uring_open(struct gn_engine **engine, const struct gn_file_target *target,
                  const struct gn_nvmeq *queue, uint32_t count, uint32_t in_flight)
{
	struct uring *u = (struct uring *)calloc(1, sizeof *u + count * sizeof u->buffer[0]);
	int rc;

	if (!u)
		return -GN_ENOMEM;
	u->base.ops = &uring_ops;
	u->target = target;
	rc = open_ring(u, in_flight);
	if (rc) {
		free(u);
		return rc == -EPERM ? -GN_EPERM : rc == -ENOMEM ? -GN_ENOMEM : -GN_ENOTSUP;
	}
	register_all(u, queue, count);
	*engine = &u->base;
	return 0;
}
