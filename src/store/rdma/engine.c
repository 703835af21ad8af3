/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/engine.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grapnel/nvme.h>
#include <grapnel/simt.h>

enum { POLLED = 64, LINK_LOST = GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY };

static struct gn_rdma_engine *rdma_of(struct gn_engine *engine)
{
	return (struct gn_rdma_engine *)engine;
}

uint32_t gn_rdma_status(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_SUCCESS: return GN_NVME_OK;
	case IBV_WC_REM_ACCESS_ERR: /* a wrong key, past the end, or a write to a read-only region */
	case IBV_WC_REM_INV_REQ_ERR: return GN_NVME_ACCESS_DENIED | GN_NVME_DO_NOT_RETRY;
	case IBV_WC_LOC_LEN_ERR:
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_QP_OP_ERR:
	case IBV_WC_LOC_ACCESS_ERR: return GN_NVME_DATA_TRANSFER_ERROR | GN_NVME_DO_NOT_RETRY;
	default: return LINK_LOST;
	}
}

static void finish(struct gn_rdma_engine *e, struct gn_request *r, uint32_t status)
{
	r->status = status;
	gn_request_push(&e->base.finished, r);
}

/* ---- flights ---- */

static uint64_t id_of(const struct gn_rdma_engine *e, const struct gn_lane *lane, uint32_t flight)
{
	return (uint64_t)(lane - e->lane) << 48 | (uint64_t)lane->generation << 32 | flight;
}

static void free_all(struct gn_lane *lane)
{
	for (uint32_t k = 0; k < lane->link.depth; k++) {
		lane->flight[k].request = NULL;
		lane->flight[k].next = k + 1;
	}
	lane->free = 0;
}

static uint32_t take_flight(struct gn_lane *lane, struct gn_request *r)
{
	const uint32_t k = lane->free;

	lane->free = lane->flight[k].next;
	lane->flight[k].request = r;
	return k;
}

static struct gn_request *end_flight(struct gn_lane *lane, uint32_t k)
{
	struct gn_request *r = lane->flight[k].request;

	lane->flight[k].request = NULL;
	lane->flight[k].next = lane->free;
	lane->free = k;
	return r;
}

/* ---- posting ---- */

/* The next pieces of a request's memory. Returns their bytes. */
static uint32_t fill_pieces(const struct gn_lane *lane, const struct gn_request *r, uint32_t most,
                            struct ibv_send_wr *wr)
{
	uint32_t bytes = 0, key = lane->memory ? lane->memory->lkey : 0;

	wr->num_sge = 0;
	for (uint32_t k = r->first; k < r->segments && (uint32_t)wr->num_sge < most; k++) {
		struct ibv_sge *piece = &wr->sg_list[wr->num_sge++];

		piece->addr = (uint64_t)(uintptr_t)r->segment[k].iov_base;
		piece->length = (uint32_t)r->segment[k].iov_len;
		piece->lkey = key;
		bytes += piece->length;
	}
	return bytes;
}

static void fill_work(struct gn_rdma_engine *e, struct gn_lane *lane, struct gn_request *r, uint32_t at)
{
	struct ibv_send_wr *wr = &e->work[at];
	const uint32_t k = take_flight(lane, r);

	memset(wr, 0, sizeof *wr);
	wr->wr_id = id_of(e, lane, k);
	wr->sg_list = &e->piece[(size_t)at * e->peer->pieces];
	lane->flight[k].bytes = fill_pieces(lane, r, e->peer->pieces, wr);
	lane->link.writes += r->opcode == GN_NVME_WRITE;
	wr->opcode = r->opcode == GN_NVME_READ    ? IBV_WR_RDMA_READ
	             : r->opcode == GN_NVME_WRITE ? IBV_WR_RDMA_WRITE
	                                          : IBV_WR_SEND;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->wr.rdma.remote_addr = lane->link.address + r->offset;
	wr->wr.rdma.rkey = lane->link.key;
	if (at)
		e->work[at - 1].next = wr;
}

/* What the device did not take goes back: it never went out. */
static void take_back(struct gn_rdma_engine *e, struct gn_lane *lane, struct ibv_send_wr *bad)
{
	for (; bad; bad = bad->next, lane->link.in_flight--)
		finish(e, end_flight(lane, (uint32_t)bad->wr_id), LINK_LOST);
}

/* One chain of the waiting requests: one call, one doorbell. The mutex is held. Returns its length. */
static uint32_t post_chain(struct gn_rdma_engine *e, struct gn_lane *lane)
{
	struct ibv_send_wr *bad = NULL;
	char why[80];
	uint32_t n = 0;
	int rc;

	while (n < GN_RDMA_CHAIN && lane->free < lane->link.depth && lane->todo.first) {
		struct gn_request *r = gn_request_pop(&lane->todo);

		if (r->opcode == GN_NVME_WRITE && gn_peer_is_in_doubt(e->peer))
			finish(e, r, LINK_LOST);
		else
			fill_work(e, lane, r, n++);
	}
	if (!n)
		return 0;
	if (!lane->link.in_flight)
		lane->progress_ns = simt_clock_ns();
	lane->link.in_flight += n;
	e->chains++;
	e->posted += n;
	rc = ibv_post_send(lane->link.qp, e->work, &bad);
	if (rc) {
		snprintf(why, sizeof why, "the RDMA device takes no request: %s", strerror(rc));
		gn_link_break(&lane->link, why);
		take_back(e, lane, bad ? bad : e->work);
	}
	return n;
}

static void post_lane(struct gn_rdma_engine *e, struct gn_lane *lane)
{
	if (!lane->todo.first)
		return;
	pthread_mutex_lock(&lane->link.mutex);
	while (lane->link.state == GN_LINK_UP && post_chain(e, lane))
		;
	if (lane->link.state != GN_LINK_UP)
		while (lane->todo.first)
			finish(e, gn_request_pop(&lane->todo), LINK_LOST);
	pthread_mutex_unlock(&lane->link.mutex);
}

/* Does a flush of this region need the server's disk? Only the host can ask for that (gn_store_flush). */
static int is_flushed_by_host(const struct gn_rdma_engine *e)
{
	const unsigned flags = e->peer->region.flags;

	return flags & GN_HELLO_FILE && !(flags & GN_HELLO_READ_ONLY);
}

void gn_rdma_engine_start(struct gn_engine *engine, struct gn_request *r)
{
	struct gn_rdma_engine *e = rdma_of(engine);

	if (r->bytes) {
		gn_request_push(&e->lane[r->port].todo, r);
		return;
	}
	if (r->opcode == GN_NVME_FLUSH && is_flushed_by_host(e))
		r->status = GN_NVME_INVALID_OPCODE;
	gn_request_push(&engine->finished, r);
}

/* ---- completions ---- */

static void end_work(struct gn_rdma_engine *e, struct gn_lane *lane, uint32_t k, enum ibv_wc_status status)
{
	const uint32_t bytes = lane->flight[k].bytes;
	struct gn_request *r = end_flight(lane, k);
	char why[80];

	lane->link.in_flight--;
	lane->progress_ns = simt_clock_ns();
	if (status != IBV_WC_SUCCESS) {
		snprintf(why, sizeof why, "a transfer failed: %s", ibv_wc_status_str(status));
		gn_link_break(&lane->link, why);
		finish(e, r, gn_rdma_status(status));
		return;
	}
	lane->link.writes -= r->opcode == GN_NVME_WRITE;
	gn_request_advance(r, bytes);
	if (r->bytes)
		gn_request_push(&lane->todo, r);
	else
		finish(e, r, GN_NVME_OK);
}

static void take_completion(struct gn_rdma_engine *e, const struct ibv_wc *wc)
{
	const uint32_t number = (uint32_t)(wc->wr_id >> 48), k = (uint32_t)wc->wr_id;
	struct gn_lane *lane = &e->lane[number];

	if (number >= e->lanes || k >= lane->link.depth)
		return;
	pthread_mutex_lock(&lane->link.mutex);
	if ((uint16_t)(wc->wr_id >> 32) == lane->generation && lane->flight[k].request)
		end_work(e, lane, k, wc->status);
	pthread_mutex_unlock(&lane->link.mutex);
}

static void reap(struct gn_rdma_engine *e)
{
	struct ibv_wc wc[POLLED];
	int n;

	do {
		n = ibv_poll_cq(e->cq, POLLED, wc);
		for (int k = 0; k < n; k++)
			take_completion(e, &wc[k]);
	} while (n == POLLED);
}

/* ---- failure ---- */

/* Destroy the queue pair and end its flights: no byte of theirs moves any more. The mutex is held. */
static void settle(struct gn_rdma_engine *e, struct gn_lane *lane)
{
	gn_link_cut(&lane->link);
	for (uint32_t k = 0; k < lane->link.depth; k++)
		if (lane->flight[k].request)
			finish(e, lane->flight[k].request, LINK_LOST);
	free_all(lane);
	lane->generation++;
	if (lane->link.in_flight) /* its engine reads it without the mutex */
		lane->link.in_flight = 0;
	lane->link.writes = 0;
	lane->link.state = GN_LINK_DOWN;
}

int gn_lane_settle(struct gn_rdma_engine *engine, struct gn_lane *lane)
{
	int down;

	pthread_mutex_lock(&lane->link.mutex);
	if (lane->link.state == GN_LINK_BROKEN && !lane->link.in_flight)
		settle(engine, lane);
	down = lane->link.state == GN_LINK_DOWN;
	pthread_mutex_unlock(&lane->link.mutex);
	return down;
}

/* Look at a lane that has transfers in flight: is its link broken, or silent for too long? */
static void inspect(struct gn_rdma_engine *e, struct gn_lane *lane, uint64_t now)
{
	pthread_mutex_lock(&lane->link.mutex);
	if (lane->link.in_flight && now > lane->progress_ns && now - lane->progress_ns > e->peer->timeout_ns)
		gn_link_break(&lane->link, "the server did not answer in time");
	if (lane->link.in_flight && lane->link.state == GN_LINK_BROKEN)
		settle(e, lane);
	pthread_mutex_unlock(&lane->link.mutex);
}

static void serve(struct gn_rdma_engine *e)
{
	uint64_t now;

	for (uint32_t k = 0; k < e->lanes; k++)
		post_lane(e, &e->lane[k]);
	reap(e);
	now = simt_clock_ns();
	for (uint32_t k = 0; k < e->lanes; k++)
		if (e->lane[k].link.in_flight)
			inspect(e, &e->lane[k], now);
}

void gn_rdma_engine_turn(struct gn_engine *engine, uint64_t wait_ns)
{
	struct gn_rdma_engine *e = rdma_of(engine);
	const uint64_t end = simt_clock_ns() + wait_ns;

	serve(e);
	while (!engine->finished.first && simt_clock_ns() < end) {
		simt_relax();
		serve(e);
	}
}

/* ---- open, close ---- */

static const struct gn_engine_ops rdma_ops = {gn_rdma_engine_start, gn_rdma_engine_turn,
                                              gn_rdma_engine_close};

void gn_rdma_engine_close(struct gn_engine *engine)
{
	struct gn_rdma_engine *e = rdma_of(engine);

	for (uint32_t k = 0; k < e->ready; k++) {
		gn_link_fini(&e->lane[k].link);
		if (e->lane[k].memory)
			ibv_dereg_mr(e->lane[k].memory);
		free(e->lane[k].flight);
	}
	if (e->cq)
		ibv_destroy_cq(e->cq);
	free(e->lane);
	free(e->piece);
	free(e);
}

static int init_lane(struct gn_rdma_engine *e, uint16_t index, uint32_t depth)
{
	struct gn_lane *lane = &e->lane[e->ready++];

	gn_link_init(&lane->link, e->peer, index, 0);
	lane->link.cq = e->cq;
	lane->link.depth = depth;
	lane->flight = (struct gn_flight *)calloc(depth, sizeof *lane->flight);
	if (!lane->flight)
		return -GN_ENOMEM;
	free_all(lane);
	return 0;
}

static int out_of_memory(const struct gn_peer *peer, struct gn_error *error)
{
	return gn_error_set(error, -GN_ENOMEM, "%s: out of memory", peer->label);
}

static int make_cq(struct gn_rdma_engine *e, uint32_t depth, struct gn_error *error)
{
	/* Completions of a connection that was lost may still lie there when the next one is made. */
	const uint64_t least = (uint64_t)e->lanes * depth,
	               entries = 2 * least < e->peer->entries ? 2 * least : e->peer->entries;

	if (entries >= least)
		e->cq = ibv_create_cq(e->peer->verbs, (int)entries, NULL, NULL, 0);
	return e->cq
	           ? 0
	           : gn_error_set(error, -GN_ENOMEM,
	                          "%s: the RDMA device makes no completion queue of %llu entries; give fewer "
	                          "with queues=N or depth=N in the URI",
	                          e->peer->label, (unsigned long long)least);
}

int gn_rdma_engine_create(struct gn_rdma_engine **engine, struct gn_peer *peer, uint32_t lanes,
                          uint16_t first, uint32_t depth, struct gn_error *error)
{
	struct gn_rdma_engine *e = (struct gn_rdma_engine *)calloc(1, sizeof *e);
	int rc;

	if (!e)
		return out_of_memory(peer, error);
	if (depth > peer->work)
		depth = peer->work;
	e->base.ops = &rdma_ops;
	e->peer = peer;
	e->lanes = lanes;
	e->lane = (struct gn_lane *)calloc(lanes, sizeof *e->lane);
	e->piece = (struct ibv_sge *)calloc((size_t)GN_RDMA_CHAIN * peer->pieces, sizeof *e->piece);
	rc = e->lane && e->piece ? make_cq(e, depth, error) : out_of_memory(peer, error);
	for (uint32_t k = 0; k < lanes && !rc; k++)
		if (init_lane(e, (uint16_t)(first + k), depth))
			rc = out_of_memory(peer, error);
	if (rc)
		gn_rdma_engine_close(&e->base);
	else
		*engine = e;
	return rc;
}

static int register_memory(struct gn_rdma_engine *e, struct gn_lane *lane,
                           const struct gn_lane_memory *memory, struct gn_error *error)
{
	lane->memory = ibv_reg_mr(e->peer->pd, memory->base, memory->bytes, IBV_ACCESS_LOCAL_WRITE);
	return lane->memory
	           ? 0
	           : gn_error_set(error, -GN_ENOMEM,
	                          "%s: %zu bytes of buffers cannot be registered with the RDMA device: %s; "
	                          "raise ulimit -l, or give fewer with queues=N or depth=N in the URI",
	                          e->peer->label, memory->bytes, strerror(errno));
}

int gn_rdma_engine_connect(struct gn_rdma_engine *engine, const struct gn_lane_memory *memory,
                           struct gn_error *error)
{
	for (uint32_t k = 0; k < engine->lanes; k++) {
		struct gn_lane *lane = &engine->lane[k];
		int rc = register_memory(engine, lane, &memory[k], error);

		rc = rc ? rc : gn_link_resolve(&lane->link, error);
		rc = rc ? rc : gn_link_join(&lane->link, error);
		if (rc)
			return rc;
	}
	return 0;
}
