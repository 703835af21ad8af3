/* SPDX-License-Identifier: Apache-2.0 */
/*
 * far.h - the options of a subcommand whose data lies in a store behind a cache, and how its store is opened.
 */
#ifndef GN_TOOL_FAR_H
#define GN_TOOL_FAR_H

#include <stdio.h>

#include <grapnel/cache.h>
#include <grapnel/store.h>

#include "tool.h"

/* What a job is compared with: the same kernels without a cache. In the order of the words of --baseline. */
enum tool_baseline {
	TOOL_OURS, /* no baseline */
	TOOL_INCORE,
	TOOL_ZEROCOPY,
	TOOL_MANAGED,
	TOOL_TILED /* of jobs over arrays: tiles are copied to the machine and back */
};

/* Zero is the default of every member. */
struct tool_far {
	/* "host", "file", a URI of nvme:, rdma:, peer:, stripe:, replica: or tier:, or NULL: what suits the
	 * data's format
	 */
	const char *store;
	bool drives;          /* the subcommand copies its data to a drive or region if it is told so */
	bool overwrite;       /* what the drive or region holds may be lost */
	uint64_t cache_bytes; /* 0: one eighth of the data */
	const char *cache_on; /* struct gn_cache_options: peers */
	uint32_t page_bytes;
	enum gn_cache_policy policy;
	uint64_t deadline_ms;
	enum tool_baseline baseline;
	/* An option that says where the data is or how it is read, as --baseline does; NULL: none was given.
	 * A subcommand sets it for its --mode. */
	const char *said;
};

/*
 * --store, --overwrite, --cache, --cache-on, --page, --policy, --deadline and --baseline: a child of a
 * subcommand's argp, with a struct tool_far. With a baseline the subcommand's mode is direct.
 */
extern const struct argp tool_far_argp;

/* tool_far_refuse_tiles - a usage error for a job that cannot run in tiles, if that was asked for. */
void tool_far_refuse_tiles(const struct tool_far *far, const struct argp_state *state);

/* tool_baseline_name - the word of --baseline; NULL for TOOL_OURS. */
const char *tool_baseline_name(enum tool_baseline baseline);

/*
 * tool_baseline_print - the table's line; nothing for TOOL_OURS.
 * tool_baseline_json - the members "baseline" and "load_seconds"; both null for TOOL_OURS.
 * @load_seconds  that opening the memory took, and copying the data into it
 */
void tool_baseline_print(enum tool_baseline baseline, double load_seconds, FILE *to);
json_t *tool_baseline_json(enum tool_baseline baseline, double load_seconds);

/* tool_far_cache_bytes - what --cache says, or one eighth of so many bytes of data, but 16 pages. */
uint64_t tool_far_cache_bytes(const struct tool_far *far, uint64_t data_bytes);

/* tool_far_cache_options - of a cache of the options, for data of so many bytes, with statistics. */
struct gn_cache_options tool_far_cache_options(const struct tool_far *far, uint64_t data_bytes);

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

/* tool_far_is_drive - is --store named by a URI, to which the data is copied or where it already is? */
bool tool_far_is_drive(const struct tool_far *far);

/* tool_far_is_memory - is direct mode possible with --store? Also if it was not given. */
bool tool_far_is_memory(const struct tool_far *far);

/*
 * tool_far_is_there - must the store have the data already? So it is for a stripe, replica or tier without
 * --overwrite. tool_far_there - open that store to read at least so many bytes. Returns as gn_store_open, or
 * -GN_ENOSPC.
 */
bool tool_far_is_there(const struct tool_far *far);
int tool_far_there(struct gn_store **store, struct simt_machine *machine, const struct tool_far *far,
                   uint64_t bytes, struct gn_error *e);

/*
 * tool_far_memory - open a store of so many bytes: zeroed memory of the host's or the baseline's, or the
 * drive or region of --store with what it holds.
 * @written  kernels will write to it
 * Returns as gn_store_open.
 */
int tool_far_memory(struct gn_store **store, struct simt_machine *machine, const struct tool_far *far,
                    uint64_t bytes, bool written, struct gn_error *e);

/*
 * tool_store_uri - a store's URI with its size where it is a peer: store and none is said. To be freed; NULL:
 * no memory.
 */
char *tool_store_uri(const char *store, uint64_t bytes);

/* tool_far_file_query - the query of a host: URI of a file that is read: "ro", and the baseline's memory. */
const char *tool_far_file_query(const struct tool_far *far);

#endif
