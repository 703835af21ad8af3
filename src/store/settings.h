/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - the settings of a store: the caller's options, overridden by the URI's, with all values
 * checked.
 */
#ifndef GN_STORE_SETTINGS_H
#define GN_STORE_SETTINGS_H

#include <grapnel/store.h>
#include <store/uri.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a URI; a scheme names the options that it knows by a mask of these. */
enum gn_store_option {
	GN_OPTION_RO = 1 << 0,
	GN_OPTION_CREATE = 1 << 1,
	GN_OPTION_QUEUES = 1 << 2,
	GN_OPTION_DEPTH = 1 << 3,
	GN_OPTION_DIRECT = 1 << 4,
	GN_OPTION_TIMEOUT = 1 << 5,
	GN_OPTION_THREADS = 1 << 6,
	GN_OPTION_IO = 1 << 7,
	GN_OPTION_TRANSFER = 1 << 8,
	GN_OPTION_MEMORY = 1 << 9,
	GN_OPTION_NAMESPACE = 1 << 10,
	GN_OPTION_SIZE = 1 << 11,
	GN_OPTION_UNIT = 1 << 12,
	GN_OPTION_FLUSH = 1 << 13,
	/* Options of every store behind queue pairs. */
	GN_OPTIONS_QUEUES =
	    GN_OPTION_QUEUES | GN_OPTION_DEPTH | GN_OPTION_TIMEOUT | GN_OPTION_THREADS | GN_OPTION_TRANSFER
};

/* How a file is read and written. */
enum gn_store_io { GN_IO_AUTO, GN_IO_URING, GN_IO_THREADS };

/* Where a host: store has its bytes. In the order of the words of memory=. */
enum gn_store_memory {
	GN_MEMORY_PINNED,
	GN_MEMORY_DEVICE,
	GN_MEMORY_MANAGED,
	GN_MEMORY_READ_MOSTLY, /* managed, for kernels that only read */
	GN_MEMORY_UNSAID       /* pinned; of a file its mapping */
};

struct gn_store_settings {
	struct gn_store_options
	    options;           /* zeros replaced by the defaults, except queue_count and queue_depth */
	uint64_t create_bytes; /* valid if create */
	int create;
	int direct;       /* O_DIRECT: 0, 1, or -1: if possible */
	unsigned threads; /* of the controller; 0: the controller decides */
	enum gn_store_io io;
	enum gn_store_memory memory;
	uint32_t nsid;       /* of a drive's namespace, from 1 */
	uint64_t size_bytes; /* of peer: memory; 0: not given */
	uint64_t unit_bytes; /* of peer: memory that lies together; 0: not given */
	uint64_t flush_ns;   /* the most that a server may take for a flush */
};

/*
 * gn_store_settings_make - join options and a URI's options.
 * @options  NULL for the defaults; faults stays borrowed
 * @known    mask of enum gn_store_option that the scheme knows
 * Returns 0, -GN_EINVAL (an option that the scheme does not know, or an invalid value; the message lists what
 * is possible).
 */
int gn_store_settings_make(struct gn_store_settings *settings, const struct gn_store_options *options,
                           const struct gn_uri *uri, unsigned known, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
