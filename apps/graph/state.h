/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what a job knows of each vertex, such as a depth or a rank: in the machine's own memory, or in a
 * store behind a cache of its own. state_device.h has the kernels' side.
 */
#ifndef GN_GRAPH_STATE_H
#define GN_GRAPH_STATE_H

#include <grapnel/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A store for the state of one job after the other. Borrowed by every job that is given it. */
struct gn_state_place {
	struct gn_store *store; /* holds nothing else; zeroed at first */
	struct gn_cache *cache; /* of this store alone */
	uint64_t used;          /* bytes that a job may have written: 0 at first */
};

/* A word for each vertex. */
struct gn_state {
	void *near;          /* [vertices] in the machine's own memory; NULL: it is far */
	struct gn_array far; /* [vertices] */
	uint64_t at;         /* of the array in its store */
	uint64_t count;
	uint32_t bytes; /* of a word: 4 or 8 */
};

enum { GN_STATES = 8, GN_STATE_PAGE = 4096 };

/* gn_state_place_bytes - of a store for words that take so many bytes of each vertex together. */
uint64_t gn_state_place_bytes(uint64_t vertices, uint32_t bytes_per_vertex);

struct gn_scanner;

/*
 * gn_state_begin - make a scanner's place ready for the state of a new job. What the cache still has of the
 * job before is dropped. Does nothing without a place. Returns 0 or what the cache failed with.
 */
int gn_state_begin(struct gn_scanner *s, struct gn_error *error);

/*
 * gn_state_init - zeroed words, one a vertex, where the scanner's graph says that state is.
 * @bytes  of a word: 4 or 8
 * @state  stays where it is until gn_scanner_fini, which frees what it holds
 * Returns 0; -GN_ENOMEM; -GN_ERANGE (the place is too small); what the store failed with.
 */
int gn_state_init(struct gn_scanner *s, struct gn_state *state, uint32_t bytes, struct gn_error *error);

/* gn_state_write - set all words from host memory, before the first launch that uses them. */
int gn_state_write(const struct gn_scanner *s, const struct gn_state *state, const void *from,
                   struct gn_error *error);

/* gn_state_read - all words, into host memory. */
int gn_state_read(const struct gn_scanner *s, const struct gn_state *state, void *to, struct gn_error *error);

/* gn_state_failure - the first word that a launch could not read or write, if any. */
int gn_state_failure(const struct gn_scanner *s, struct gn_error *error);

/* gn_state_fini - free the words of a scanner. */
void gn_state_fini(const struct gn_scanner *s);

#ifdef __cplusplus
}
#endif

#endif
