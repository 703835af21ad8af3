/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - a command that a controller has fetched and not yet completed.
 */
#ifndef GN_CONTROLLER_REQUEST_H
#define GN_CONTROLLER_REQUEST_H

#include <stdint.h>
#include <sys/uio.h>

/*
 * Owned by one controller thread; its engine has it from start until it is on the engine's finished list.
 * segment[first .. segments) is the memory still to move, in the order of the bytes.
 */
struct gn_request {
	struct gn_request *next; /* in the list that it is on */
	uint64_t offset;         /* in the medium, of the bytes still to move */
	uint32_t bytes;          /* still to move; none past the end of the medium */
	uint32_t moved_bytes;    /* all bytes that the command moves, for the statistics */
	uint32_t status;         /* GN_NVME_*, valid once finished */
	uint32_t port;           /* index among the ports of its thread */
	uint16_t cid;
	uint8_t opcode; /* GN_NVME_READ, GN_NVME_WRITE or GN_NVME_FLUSH */
	uint8_t fault;  /* enum gn_fault */
	uint8_t tries;  /* how often the engine has started it again */
	uint32_t segments, first;
	struct iovec *segment;
	uint64_t due_ns;    /* on the shelf: the completion is posted at this time, or */
	uint64_t due_posts; /* when the port has posted this number of completions, if that is earlier */
};

/* A list of requests, first in, first out. */
struct gn_request_list {
	struct gn_request *first, *last;
};

static inline void gn_request_push(struct gn_request_list *list, struct gn_request *r)
{
	r->next = NULL;
	if (list->first)
		list->last->next = r;
	else
		list->first = r;
	list->last = r;
}

static inline struct gn_request *gn_request_pop(struct gn_request_list *list)
{
	struct gn_request *r = list->first;

	if (r)
		list->first = r->next;
	return r;
}

/* Remove the first bytes, which were moved, from the segments. */
static inline void gn_request_advance(struct gn_request *r, uint32_t bytes)
{
	r->offset += bytes;
	r->bytes -= bytes;
	while (bytes) {
		struct iovec *s = &r->segment[r->first];
		uint32_t n = bytes < s->iov_len ? bytes : (uint32_t)s->iov_len;

		s->iov_base = (char *)s->iov_base + n;
		s->iov_len -= n;
		bytes -= n;
		if (!s->iov_len)
			r->first++;
	}
}

/* Shorten the request to this number of bytes; segments behind them are dropped. */
static inline void gn_request_trim(struct gn_request *r, uint32_t bytes)
{
	uint32_t left = bytes, k = r->first;

	for (; left; k++) {
		struct iovec *s = &r->segment[k];

		if (s->iov_len > left)
			s->iov_len = left;
		left -= (uint32_t)s->iov_len;
	}
	r->segments = k;
	r->bytes = bytes;
}

#endif
