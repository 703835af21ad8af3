/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patterns.h - twelve access patterns over one store, several launches each, in a fixed mode, as batches of
 * rows where the list of them is known ahead, or as gn_auto chooses.
 *
 *   gn_pattern_fixture   a machine and a store full of known words; made once
 *   gn_pattern_run   all launches of one pattern in one mode, each timed, every word verified
 */
#ifndef GN_PATTERNS_H
#define GN_PATTERNS_H

#include <grapnel/auto.h>
#include <grapnel/simt.h>

enum { GN_PATTERNS = 12, GN_PATTERN_MOST_LAUNCHES = 64 };

struct gn_pattern_list;

struct gn_pattern {
	const char *name;
	const char *summary;
	const struct simt_kernel *kernel;
	const struct simt_kernel *later; /* of the second half of the launches; NULL: the same */
	/* the same as batches of rows; NULL: what is read next is not known ahead */
	const struct gn_pattern_list *list;
	int writes;
	/* touches of a launch: this many times those asked for, in sixteenths */
	uint32_t share;
	/* fixed modes worth running, by page size: with others a launch takes a hundred times as long */
	uint32_t least, most;
};

extern const struct gn_pattern gn_patterns[GN_PATTERNS];

/* Zero is a good default for every member but the machine's name and the two sizes. */
struct gn_pattern_options {
	struct simt_options machine;
	uint64_t data_bytes; /* a power of two, 16 MiB at least */
	uint64_t cache_bytes;
	uint64_t touches;  /* scattered accesses of a launch; 0: one for each 32 words */
	uint32_t launches; /* 2 to GN_PATTERN_MOST_LAUNCHES; 0 for 12 */
};

struct gn_pattern_fixture {
	struct gn_pattern_options options;
	struct simt_machine *machine;
	struct simt_info info;
	struct gn_store *store;
	uint64_t reach_bytes; /* of address translation; 0: what gn_auto takes it for */
	uint64_t *wrong;
};

/*
 * gn_pattern_fixture_open - a store full of words. Host. Returns 0 or what simt_open and gn_store_open
 * return.
 */
int gn_pattern_fixture_open(struct gn_pattern_fixture *fixture, const struct gn_pattern_options *options,
                            struct gn_error *error);

/* gn_pattern_fixture_close - also after an open that failed. */
void gn_pattern_fixture_close(struct gn_pattern_fixture *fixture);

/*
 * How the array is read: directly, through pages of so many bytes, in batches of rows over a direct array, or
 * by gn_auto: where that advises to gather, the launches that follow are made of batches if the pattern has a
 * list.
 */
enum { GN_PATTERN_DIRECT, GN_PATTERN_AUTO, GN_PATTERN_GATHER };

/* What came of a run. */
struct gn_pattern_result {
	double seconds[GN_PATTERN_MOST_LAUNCHES]; /* of each launch; of gn_auto with what it did behind it */
	double total;
	uint32_t launches;                         /* done: fewer where the limit was passed */
	char choice[GN_PATTERN_MOST_LAUNCHES][12]; /* gn_auto: what each launch ran with */
	uint64_t switches, looks;
	enum gn_auto_advice advice; /* gn_auto: at the end */
	char explain[4096];         /* gn_auto: at the end */
};

/*
 * gn_pattern_run - the launches of a pattern.
 * @mode   GN_PATTERN_AUTO, GN_PATTERN_DIRECT, GN_PATTERN_GATHER (of a pattern with a list) or a page size
 * @limit  seconds after which no further launch is begun; 0: none
 * Host. Returns 0, -GN_EBADMSG (a word was not what it should be: a bug), or what gn_array and gn_auto
 * return.
 */
int gn_pattern_run(struct gn_pattern_fixture *fixture, const struct gn_pattern *pattern, uint32_t mode,
                   double limit, struct gn_pattern_result *result, struct gn_error *error);

#endif
