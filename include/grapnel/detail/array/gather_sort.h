/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/gather_sort.h - sorts the rows of a batch by their addresses.
 *
 * Place k of a batch with row number r becomes one word, an entry: r in the high bits, k in the low bits.
 * Entries are sorted by r with a stable radix sort, eight bits at a time from the lowest. So entries of one
 * row end up adjacent, in the order of the batch.
 *
 * A block sorts a tile of entries in its shared memory. The first warps of the block are teams. Each team
 * counts the digits of its part of the tile, the counts become places, and the team puts its entries there.
 * Over a grid each block has a part of all entries. From the counts of all parts a block computes where its
 * own entries begin.
 */
#ifndef GRAPNEL_ARRAY_GATHER_SORT_H
#define GRAPNEL_ARRAY_GATHER_SORT_H

#include <grapnel/detail/array/view.h>
#include <grapnel/simt.h>

/*
 * Rows of an array by number. Row r is `elements` elements from element r * elements on. Plain data, in the
 * caller's memory.
 */
struct gn_batch {
	const uint64_t *index; /* [count] numbers of rows; memory that the machine reaches */
	/*
	 * [count] packed rows; memory that the machine reaches, aligned to an element (16-byte elements: to 8
	 * bytes). Rows aligned to 8 bytes are moved fastest.
	 */
	void *rows;
	uint64_t count;
	uint32_t elements; /* of a row; a row has up to 1 GiB */
	uint32_t reserved;
};

enum { GN__TILE = 4096, GN__TEAMS = 16, GN__DIGITS = 256, GN__PARTS = 1024, GN__NEAR = 1024 };

/* A batch as all threads of a block see it. In the block's shared memory. */
struct gn__job {
	struct gn_array array;
	const uint64_t *index;
	char *rows;
	const char *memory; /* element 0 in the store's memory; NULL: loads do not reach the store */
	uint64_t count;
	uint64_t most; /* rows of the array */
	uint32_t row_bytes;
	uint32_t position_bits; /* of an entry, below its row */
	uint32_t passes;        /* number of digits to sort by */
	uint32_t shift;         /* of the lowest digit, in bits */
	uint32_t unit;          /* bytes that a lane moves at once: 1, 2, 4 or 8 */
	uint32_t lanes;         /* lanes that move a row together: a power of two */
	uint32_t is_scatter;
};

struct gn__gather_shared {
	struct gn__job job;
	uint64_t entry[GN__TILE];
	uint16_t count[GN__TEAMS][GN__DIGITS]; /* entries with a digit in a team's part; then their place */
	uint32_t start[GN__DIGITS];            /* place of a digit's first entry in the tile */
	uint32_t base[GN__DIGITS];             /* the same in the result; or the counts of a part */
	uint32_t sum[GN__TEAMS];
	/* if the block works alone: the first entry that no warp has taken */
	uint64_t next;
};

/* The entry of an index past the end: no row is moved for it. It sorts behind all others. */
static const uint64_t GN__NO_ENTRY = ~0ull;

/* ---- the job ---- */

SIMT_FN uint32_t gn__bits(uint64_t largest)
{
	uint32_t bits = 0;

	while (bits < 64 && largest >> bits)
		bits++;
	return bits;
}

/* The largest power of two up to 8 to which all rows are aligned, in the array and in the batch. */
SIMT_FN uint32_t gn__unit_of(const struct gn_array *a, const struct gn_batch *batch, uint32_t row_bytes)
{
	const uint64_t all = (uintptr_t)batch->rows | (uintptr_t)a->memory | a->base | row_bytes | 8;

	return (uint32_t)(all & (~all + 1));
}

SIMT_FN uint32_t gn__lanes_of(uint32_t units)
{
	uint32_t lanes = 1;

	while (lanes < units && lanes < simt_warp_width())
		lanes *= 2;
	return lanes;
}

/* Element 0 of an array in the store's memory; NULL: loads do not reach the store. */
SIMT_FN const char *gn__memory_of(const struct gn_array *a)
{
	const struct gn_cache_segment *segment;

	if (a->memory)
		return a->memory;
	segment = gn__segment_of(a->pages.cache, a->base >> a->pages.page_log2);
	return segment->store.kind == GN_STORE_MEMORY
	           ? segment->store.memory + (a->base - (segment->first_page << a->pages.page_log2))
	           : 0;
}

/* The number of bits of a row's number. */
SIMT_FN uint32_t gn__row_bits(const struct gn_array *a, const struct gn_batch *batch, int is_scatter)
{
	const uint64_t most = a->count / batch->elements;

	/*
	 * A scatter writes the last of equal entries. GN__NO_ENTRY must not sort among the entries of a row,
	 * so there must be one number more.
	 */
	return most ? gn__bits(is_scatter ? most : most - 1) : 0;
}

/*
 * The number of digits to sort by. Small rows to gather are not sorted within GN__NEAR bytes if that saves a
 * digit: a warp loads such rows together in any order, and repeated ones once.
 */
SIMT_FN uint32_t gn__passes(const struct gn_array *a, const struct gn_batch *batch, int is_scatter)
{
	const uint32_t bits = gn__row_bits(a, batch, is_scatter),
	               row_bytes = batch->elements << a->element_log2;
	const uint32_t given_up = !is_scatter && row_bytes <= 16 ? gn__bits(GN__NEAR / row_bytes) - 1 : 0;

	return bits > given_up ? (bits - given_up + 7) / 8 : 0;
}

/* The number of a row's low bits that are not sorted by. */
SIMT_FN uint32_t gn__low_bits(const struct gn_array *a, const struct gn_batch *batch, int is_scatter)
{
	const uint32_t bits = gn__row_bits(a, batch, is_scatter), passes = gn__passes(a, batch, is_scatter);

	return bits > 8 * passes ? bits - 8 * passes : 0;
}

/* Fill what the host can know, too: all but memory and lanes. */
SIMT_FN void gn__job_fill(struct gn__job *j, const struct gn_array *a, const struct gn_batch *batch,
                          int is_scatter)
{
	j->array = *a;
	j->index = batch->index;
	j->rows = (char *)batch->rows;
	j->count = batch->count;
	j->most = a->count / batch->elements;
	j->row_bytes = batch->elements << a->element_log2;
	j->position_bits = gn__bits(batch->count - 1);
	j->passes = gn__passes(a, batch, is_scatter);
	j->shift = j->position_bits + gn__low_bits(a, batch, is_scatter);
	j->unit = gn__unit_of(a, batch, j->row_bytes);
	j->is_scatter = (uint32_t)is_scatter;
}

/* Called by all threads of the block. The batch is not empty. */
SIMT_FN void gn__job_begin(struct gn__gather_shared *s, const struct gn_array *a,
                           const struct gn_batch *batch, int is_scatter)
{
	simt_block_sync();
	if (simt_thread() == 0) {
		gn__job_fill(&s->job, a, batch, is_scatter);
		s->job.memory = gn__memory_of(a);
		s->job.lanes = gn__lanes_of(s->job.row_bytes / s->job.unit);
	}
	simt_block_sync();
}

/* ---- entries ---- */

SIMT_FN uint64_t gn__entry_row(const struct gn__job *j, uint64_t entry)
{
	return entry >> j->position_bits;
}

/* The entry's place in the batch. */
SIMT_FN uint64_t gn__entry_position(const struct gn__job *j, uint64_t entry)
{
	return entry & ((1ull << j->position_bits) - 1);
}

/* The array has no such row: the array keeps the failure, and a gathered row becomes zero. */
SIMT_NOINLINE_FN void gn__entry_refused(const struct gn__job *j, uint64_t index, uint64_t position)
{
	const uint64_t elements = j->row_bytes >> j->array.element_log2;

	for (uint32_t at = 0; at < j->row_bytes && !j->is_scatter; at++)
		j->rows[position * j->row_bytes + at] = 0;
	gn__out_of_range(&j->array, index > ~0ull / elements ? ~0ull : index * elements);
}

/* @refuses  1: if the index is past the end, report it; exactly one thread passes 1 for a place */
SIMT_FN uint64_t gn__entry_of(const struct gn__job *j, uint64_t position, int refuses)
{
	const uint64_t index = j->index[position];

	if (simt_likely(index < j->most))
		return index << j->position_bits | position;
	if (refuses)
		SIMT_COLD(gn__entry_refused)(j, index, position);
	return GN__NO_ENTRY;
}

/* ---- sort a tile by one digit ---- */

/* The number of teams: whole warps, GN__TEAMS at most. */
SIMT_FN uint32_t gn__teams(void)
{
	const uint32_t warps = simt_block_threads() / simt_warp_width();

	return warps < GN__TEAMS ? warps : (uint32_t)GN__TEAMS;
}

SIMT_FN uint32_t gn__digit(uint64_t entry, uint32_t shift)
{
	return (uint32_t)(entry >> shift) & (GN__DIGITS - 1);
}

/*
 * Count one entry of each lane, and if `to` is not NULL, put it behind earlier entries with the same digit.
 * Collective over mask.
 */
SIMT_FN void gn__tile_step(struct gn__gather_shared *s, uint16_t *count, uint32_t mask, uint64_t entry,
                           uint32_t shift, uint64_t *to)
{
	const uint32_t digit = gn__digit(entry, shift);
	const uint32_t same = simt_match_small(mask, digit, 8);
	const uint32_t before = count[digit], rank = simt_rank(same);

	simt_warp_sync(mask);
	if (rank == 0)
		count[digit] = (uint16_t)(before + simt_popcount(same));
	if (to)
		to[s->start[digit] + before + rank] = entry;
	simt_warp_sync(mask);
}

/* Each team makes gn__tile_step for all entries of its part of a tile. */
SIMT_FN void gn__tile_walk(struct gn__gather_shared *s, const uint64_t *entry, uint32_t entries,
                           uint32_t shift, uint64_t *to)
{
	const uint32_t width = simt_warp_width(), teams = gn__teams(), team = simt_thread() / width;
	const uint32_t part = ((entries + teams - 1) / teams + width - 1) & ~(width - 1);
	const uint32_t end = part * (team + 1) < entries ? part * (team + 1) : entries;
	uint64_t next;
	uint32_t i;

	if (team >= teams)
		return;
	i = part * team + simt_lane();
	next = i < end ? entry[i] : 0;
	for (; i - simt_lane() < end; i += width) {
		const uint32_t mask = simt_ballot(simt_whole_warp(), i < end);
		const uint64_t here = next;

		if (i + width < end)
			next = entry[i + width]; /* in flight while this entry is counted */
		if (i < end)
			gn__tile_step(s, s->count[team], mask, here, shift, to);
	}
}

/* Count the digits of a tile into s->count, for each team. Begins and ends with a barrier of the block. */
SIMT_FN void gn__tile_count(struct gn__gather_shared *s, const uint64_t *entry, uint32_t entries,
                            uint32_t shift)
{
	simt_block_sync();
	for (uint32_t k = simt_thread(); k < GN__TEAMS * GN__DIGITS; k += simt_block_threads())
		s->count[k / GN__DIGITS][k % GN__DIGITS] = 0;
	simt_block_sync();
	gn__tile_walk(s, entry, entries, shift, 0);
	simt_block_sync();
}

/*
 * An exclusive prefix sum: each of GN__DIGITS numbers becomes the sum of those before it. Called by the whole
 * block; GN__TEAMS threads work.
 */
SIMT_FN void gn__scan(struct gn__gather_shared *s, uint32_t *number)
{
	enum { EACH = GN__DIGITS / GN__TEAMS };

	for (uint32_t g = simt_thread(); g < GN__TEAMS; g += simt_block_threads()) {
		uint32_t sum = 0;

		for (uint32_t k = 0; k < EACH; k++)
			sum += number[g * EACH + k];
		s->sum[g] = sum;
	}
	simt_block_sync();
	for (uint32_t g = simt_thread(); g < GN__TEAMS; g += simt_block_threads()) {
		uint32_t before = 0;

		for (uint32_t k = 0; k < g; k++)
			before += s->sum[k];
		for (uint32_t k = 0; k < EACH; k++) {
			const uint32_t here = number[g * EACH + k];

			number[g * EACH + k] = before;
			before += here;
		}
	}
	simt_block_sync();
}

/*
 * Turn the teams' counts into places: s->count becomes where a team's entries begin among all entries with
 * their digit, and s->start where a digit's entries begin in the tile.
 */
SIMT_FN void gn__tile_places(struct gn__gather_shared *s)
{
	for (uint32_t digit = simt_thread(); digit < GN__DIGITS; digit += simt_block_threads()) {
		uint32_t before = 0;

		for (uint32_t team = 0; team < GN__TEAMS; team++) {
			const uint32_t here = s->count[team][digit];

			s->count[team][digit] = (uint16_t)before;
			before += here;
		}
		s->start[digit] = before;
	}
	simt_block_sync();
	gn__scan(s, s->start);
}

/* Sort a tile by one digit into `to`, which does not overlap the tile. Called by the whole block. */
SIMT_FN void gn__tile_sort(struct gn__gather_shared *s, const uint64_t *entry, uint32_t entries,
                           uint32_t shift, uint64_t *to)
{
	gn__tile_count(s, entry, entries, shift);
	gn__tile_places(s);
	gn__tile_walk(s, entry, entries, shift, to);
	simt_block_sync();
}

/* ---- sort over a grid: each block has a part ---- */

/* The memory of a sort over a grid. Plain data, made by gn_gather_create. */
struct gn_gather_view {
	uint64_t *entry[2]; /* [most] */
	uint32_t *counts;   /* [GN__PARTS][GN__DIGITS] of each part */
	uint32_t *barrier;  /* [2] blocks that have come in this round; rounds that are complete */
	uint64_t *next;     /* the first entry that no warp has taken */
	uint64_t most;      /* largest count of a batch */
};

/* A block's part of the entries. */
struct gn__part {
	uint64_t begin, end;
	uint32_t index, parts;
};

SIMT_FN struct gn__part gn__part_of(uint64_t count)
{
	const uint64_t tiles = (count + GN__TILE - 1) / GN__TILE;
	struct gn__part p;
	uint64_t each;

	p.parts = simt_blocks() < GN__PARTS ? simt_blocks() : (uint32_t)GN__PARTS;
	p.index = simt_block();
	each = (tiles + p.parts - 1) / p.parts * GN__TILE;
	p.begin = p.index * each < count && p.index < p.parts ? p.index * each : count;
	p.end = count - p.begin < each ? count : p.begin + each;
	return p;
}

SIMT_FN uint32_t gn__tile_at(const struct gn__part *p, uint64_t at)
{
	return p->end - at < GN__TILE ? (uint32_t)(p->end - at) : (uint32_t)GN__TILE;
}

/* Make the entries of a part from the batch's indices, and set *next to 0. */
SIMT_FN void gn__part_load(const struct gn__gather_shared *s, const struct gn__part *p, uint64_t *entry,
                           uint64_t *next)
{
	if (simt_global_thread() == 0)
		*next = 0;
	for (uint64_t k = p->begin + simt_thread(); k < p->end; k += simt_block_threads())
		entry[k] = gn__entry_of(&s->job, k, 1);
	simt_block_sync();
}

/* Count a part's digits. All parts see the counts after the next gn__grid_sync. */
SIMT_FN void gn__part_count(struct gn__gather_shared *s, const struct gn__part *p, const uint64_t *entry,
                            uint32_t shift, uint32_t *counts)
{
	const uint32_t step = simt_block_threads();

	for (uint32_t digit = simt_thread(); digit < GN__DIGITS; digit += step)
		s->base[digit] = 0;
	for (uint64_t at = p->begin; at < p->end; at += GN__TILE) {
		gn__tile_count(s, entry + at, gn__tile_at(p, at), shift);
		for (uint32_t digit = simt_thread(); digit < GN__DIGITS; digit += step)
			for (uint32_t team = 0; team < GN__TEAMS; team++)
				s->base[digit] += s->count[team][digit];
	}
	for (uint32_t digit = simt_thread(); digit < GN__DIGITS && p->index < p->parts; digit += step)
		counts[p->index * GN__DIGITS + digit] = s->base[digit];
}

/* Compute s->base: where a part's entries with each digit begin in the result. */
SIMT_FN void gn__part_base(struct gn__gather_shared *s, const struct gn__part *p, const uint32_t *counts)
{
	for (uint32_t digit = simt_thread(); digit < GN__DIGITS; digit += simt_block_threads()) {
		uint32_t before = 0, all = 0;

		for (uint32_t q = 0; q < p->parts; q++) {
			const uint32_t here = counts[q * GN__DIGITS + digit];

			before += q < p->index ? here : 0;
			all += here;
		}
		s->base[digit] = before;
		s->start[digit] = all;
	}
	simt_block_sync();
	gn__scan(s, s->start);
	for (uint32_t digit = simt_thread(); digit < GN__DIGITS; digit += simt_block_threads())
		s->base[digit] += s->start[digit];
	simt_block_sync();
}

/* Copy a sorted tile from shared memory to its places in the result, and move s->base behind them. */
SIMT_FN void gn__tile_out(struct gn__gather_shared *s, uint32_t entries, uint32_t shift, uint64_t *to)
{
	for (uint32_t i = simt_thread(); i < entries; i += simt_block_threads()) {
		const uint64_t entry = s->entry[i];
		const uint32_t digit = gn__digit(entry, shift);

		to[s->base[digit] + (i - s->start[digit])] = entry;
	}
	simt_block_sync();
	for (uint32_t digit = simt_thread(); digit < GN__DIGITS; digit += simt_block_threads())
		s->base[digit] += (digit + 1 < GN__DIGITS ? s->start[digit + 1] : entries) - s->start[digit];
}

/* Sort a part's entries by one digit into the result of all parts. */
SIMT_FN void gn__part_sort(struct gn__gather_shared *s, const struct gn__part *p, const uint64_t *entry,
                           uint32_t shift, const uint32_t *counts, uint64_t *to)
{
	gn__part_base(s, p, counts);
	for (uint64_t at = p->begin; at < p->end; at += GN__TILE) {
		gn__tile_sort(s, entry + at, gn__tile_at(p, at), shift, s->entry);
		gn__tile_out(s, gn__tile_at(p, at), shift, to);
	}
}

#endif
