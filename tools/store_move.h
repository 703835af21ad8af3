/* SPDX-License-Identifier: Apache-2.0 */
/* store_move.h - bytes of any store from a file or into one, by the host. */
#ifndef GN_TOOL_STORE_MOVE_H
#define GN_TOOL_STORE_MOVE_H

#include <grapnel/store.h>

#include "tool.h"

struct tool_store_request {
	const char *subcommand; /* for messages */
	const char *uri;        /* of the store; as the user gave it */
	const char *file;       /* NULL: standard input or output */
	uint64_t offset, bytes; /* in the store; bytes is for reading, 0: up to the end */
	bool writes;            /* the store is written, and flushed */
	bool resyncs;           /* then members of a replica that are out of use are put back */
};

/* tool_store_open - open a store on a cpu machine, with one queue pair unless the URI says more. */
int tool_store_open(struct simt_machine **machine, struct gn_store **store, const char *uri, bool writes,
                    struct gn_error *e);

/*
 * tool_store_warn - say on stderr which members of a replica are out of use, and why.
 * @failed  true: those that failed since it was opened; false: those that were left out then
 */
void tool_store_warn(const char *subcommand, const struct gn_store *store, bool failed);

/* tool_store_move - copy the bytes. Returns an exit status; a failure was said on stderr. */
int tool_store_move(const struct tool_store_request *r);

#endif
