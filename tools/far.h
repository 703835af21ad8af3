/* SPDX-License-Identifier: Apache-2.0 */
/*
 * far.h - the options of a subcommand whose data lies in a store behind a cache, and how its store is opened.
 */
#ifndef GN_TOOL_FAR_H
#define GN_TOOL_FAR_H

#include <grapnel/cache.h>
#include <grapnel/store.h>

#include "tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero is the default of every member. */
struct tool_far {
	const char *store;    /* "host", "file" or NULL: what suits the data's format */
	uint64_t cache_bytes; /* 0: one eighth of the data */
	uint32_t page_bytes;
	enum gn_cache_policy policy;
	uint64_t deadline_ms;
};

/* --store, --cache, --page, --policy and --deadline: a child of a subcommand's argp, with a struct tool_far.
 */
extern const struct argp tool_far_argp;

/* tool_far_cache_bytes - what --cache says, or one eighth of so many bytes of data, but 16 pages. */
uint64_t tool_far_cache_bytes(const struct tool_far *far, uint64_t data_bytes);

/*
 * tool_far_open - open the store of a file.
 * @machine_name    of --machine, for settings that grapnel tune kept
 * @scheme, @path   of its URI; what would end a path is escaped
 * @query           of its URI, such as "ro"
 * @transfer_bytes  the largest transfer, see struct gn_store_options
 * Returns as gn_store_open.
 */
int tool_far_open(struct gn_store **store, struct simt_machine *machine, const struct tool_far *far,
                  const char *subcommand, const char *machine_name, const char *scheme, const char *path,
                  const char *query, uint32_t transfer_bytes, struct gn_error *e);

/* tool_far_memory - open a store of so many bytes of host memory. Returns as gn_store_open. */
int tool_far_memory(struct gn_store **store, struct simt_machine *machine, uint64_t bytes,
                    struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
