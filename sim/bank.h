/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bank.h - a bank of a shared write-back cache. L2 is made of them, before DRAM; the cache of remote data
 * too, before the RDMA engine. Requests are looked at in their order, and one that finds no MSHR or no way
 * holds up those behind it.
 */
#ifndef SIM_BANK_H
#define SIM_BANK_H

#include <sim/config.h>
#include <sim/divide.h>
#include <sim/mshr.h>

struct sim_gpu;

/* What it has counted of its kind; counters of struct sim_stats. */
struct sim_bank_counts {
	uint64_t *lookups, *hits, *merges, *misses, *write_fills, *write_backs, *blocked;
	uint64_t *word_misses; /* NULL: it holds whole lines */
};

/* Where lines are, by what their addresses are divided by. */
struct sim_bank_map {
	struct sim_divisor interleave, banks, round; /* round: a part of each bank */
};

struct sim_bank {
	struct sim_event retry; /* first */
	uint64_t retry_at;      /* 0: not waiting */
	struct sim_gpu *gpu;
	uint32_t number;
	const struct sim_config_cache *size;
	struct sim_bank_map map;
	struct sim_tags tags;
	struct sim_mshr mshr;
	struct sim_fifo in;
	struct sim_bank_counts counts;

	sim_event_fn *answer; /* of an access that is done */
	/* the level below: bring the line of an entry; may a line be written back now; do so; does a write of
	   a line that is not here go there */
	void (*fetch)(struct sim_domain *m, struct sim_bank *b, uint16_t entry);
	bool (*has_room)(const struct sim_domain *m, const struct sim_bank *b);
	void (*write_back)(struct sim_domain *m, struct sim_bank *b, uint64_t line);
	bool (*pass_write)(struct sim_domain *m, struct sim_bank *b, struct sim_access *a);
};

/* sim_bank_init - the functions are the caller's. Returns 0 or -GN_ENOMEM. */
int sim_bank_init(struct sim_bank *b, struct sim_arena *arena, struct sim_gpu *gpu, uint32_t number,
                  const struct sim_config_cache *size);

/*
 * sim_bank_of - the number of the bank that a line is in. sim_bank_place - its number among the lines of that
 * bank.
 */
uint32_t sim_bank_of(const struct sim_bank_map *map, uint64_t line);
uint64_t sim_bank_place(const struct sim_bank_map *map, uint64_t line);

void sim_bank_accept(struct sim_domain *m, struct sim_bank *b, struct sim_access *a);
void sim_bank_run(struct sim_domain *m, struct sim_bank *b);

/* sim_bank_fill - the line of an entry is there. */
void sim_bank_fill(struct sim_domain *m, struct sim_bank *b, struct sim_mshr_entry *e);

#endif
