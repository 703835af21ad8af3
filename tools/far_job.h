/* SPDX-License-Identifier: Apache-2.0 */
/*
 * far_job.h - what the subcommands share that run one job over arrays behind a store, as `grapnel mvt`
 * does. Options, the stores, the cache, the parts of a report. Jobs over graphs have graph_job.h.
 */
#ifndef GN_TOOL_FAR_JOB_H
#define GN_TOOL_FAR_JOB_H

#include <stdbool.h>

#include <grapnel/array.h>
#include <grapnel/cache.h>
#include <grapnel/store.h>

#include "far.h"
#include "tool.h"

/* ---- options ---- */

struct far_options {
	const char *subcommand; /* its name */
	struct simt_options machine;
	struct tool_far far; /* a store that is not said is host */
	enum gn_mode mode;
	uint64_t seed; /* of generated data */
	const char *json;
	/* The subcommand's own parser sets these two: their help says what is written and compared. */
	const char *out;
	bool verify;
};

/* The options of a machine and those above: the child of a subcommand's argp, with a struct far_options. */
extern const struct argp_child far_options_child[];

/* The same without --seed, for a job that generates no data. */
extern const struct argp_child far_read_child[];

/* far_options_init - what holds unless the command line says otherwise; o is all 0. */
void far_options_init(struct far_options *o, const char *subcommand);

/* ---- the job ---- */

enum { FAR_STORES = 3 };

/* A job in progress: what is there must be given back. */
struct far_job {
	const struct far_options *options;
	struct simt_machine *machine;
	struct gn_store *store[FAR_STORES];
	unsigned stores;
	uint64_t bytes;         /* of all stores */
	double load_seconds;    /* for opening the stores, and copying data into them */
	struct gn_cache *cache; /* NULL in direct mode */
	struct gn_progress progress;
};

/*
 * far_job_store - the next store.
 * @path     a file, which is only read; NULL: a new one, zeroed: memory, or a file without a name
 * @bytes    that it must have, exactly
 * @written  kernels will write to it
 * @what     names the data in messages
 */
int far_job_store(struct far_job *j, const char *path, uint64_t bytes, bool written, const char *what,
                  struct gn_error *e);

/*
 * far_job_fill - write generated data to a new store.
 * @make  writes bytes [at, at + bytes) of the data to `to`
 */
int far_job_fill(struct far_job *j, unsigned store,
                 void (*make)(const void *user, uint64_t at, uint64_t bytes, void *to), const void *user,
                 struct gn_error *e);

/* far_job_write - a whole store to a file, which appears when it is complete. What is in the cache must be
 * flushed. */
int far_job_write(struct far_job *j, unsigned store, const char *path, struct gn_error *e);

/* far_job_ready - all stores are filled: the cache in front of them; none in direct mode. */
int far_job_ready(struct far_job *j, struct gn_error *e);

/* far_job_array - elements of a store, from its begin on. The caller destroys it. */
int far_job_array(struct far_job *j, unsigned store, uint64_t count, uint32_t element_bytes,
                  struct gn_array *array, struct gn_error *e);

/*
 * far_job_tile - how many rows a tile of --baseline tiled has: tiles of an eighth of the data, so that
 * several are there, but at most 16 MiB, and one row at least.
 */
uint64_t far_job_tile(uint64_t rows, uint64_t row_bytes);

/* ---- the report ---- */

/* What there is to say about a run, whatever the job was. Its subcommand sets the second part. */
struct far_report {
	const struct far_options *options;
	struct simt_info machine;
	struct gn_cache_info cache; /* zero in direct mode */
	char path[512];             /* which way the bytes went */
	uint64_t data_bytes;        /* of all stores: what the cache's size is measured by */
	double load_seconds;

	double seconds;
	uint64_t needed_bytes; /* that any such job must move, between the machine and the stores */
	const char *proof;     /* what --verify has shown, where it has */
	int verified;          /* 1, 0, or -1: was not asked */
};

/* ---- the subcommand ---- */

/*
 * What a subcommand adds. Its own struct begins with a struct far_job, and the struct that its options are
 * parsed into with a struct far_options. Results are written only for a run that went well.
 */
struct far_command {
	/* the stores, the cache and the arrays; the machine is open */
	int (*open)(struct far_job *j, struct gn_error *e);
	/* sets seconds, needed_bytes and proof of the report */
	int (*run)(struct far_job *j, struct far_report *r, struct gn_error *e);
	int (*verify)(struct far_job *j, struct gn_error *e);
	int (*write)(struct far_job *j, struct gn_error *e); /* the result, to options->out */
	json_t *(*report)(const struct far_job *j);          /* its own members of --json */
	void (*print)(const struct far_job *j);              /* its own lines of the table */
	void (*close)(struct far_job *j); /* what open has opened beside stores and cache */
};

/* far_command_run - a whole run. Returns the exit status. @j  zero */
int far_command_run(const struct far_command *c, const struct far_options *o, struct far_job *j);

#endif
