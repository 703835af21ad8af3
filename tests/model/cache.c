/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache under every kind of schedule: one to six threads in warps of one, two or four, or beside a whole
 * warp of 32 that reads, on one to four frames, both tables, every policy, with sectors and without, words
 * that start near the wrap of their version, a store that fails. What must hold:
 *   - a read returns its element: a value that was there at some time between the read's begin and end;
 *   - of those who change an element as one step, each returns a value that no other returns;
 *   - at most one transfer of a page at a time, and a held frame stays;
 *   - what was written is in the store after the last flush, whatever failed before;
 *   - an access fails only if the store did; whoever waited for a failed fetch is told;
 *   - in the end no page is busy or pinned, every frame has one owner, and nobody waited for ever.
 */
#include "harness.h"

#include "cache_trial.h"
#include "cache_scripts.h"
#include "cache_store.h"
#include "cache_user.h"

SIMT_FN void cache_trial(const struct arguments *a)
{
	use(a->t, (uint32_t)simt_global_thread());
}
SIMT_KERNEL(cache_trial, struct arguments)

/* ---- what is tried ---- */

/* ways 0: the direct table. */
static void set_table(uint32_t ways, uint32_t sets_log2, uint32_t frames, uint32_t pages)
{
	struct gn_cache_view *c = &the_trial.cache;

	c->ways = ways;
	c->ways_inverse = gn__ways_inverse(ways);
	c->sets_log2 = sets_log2;
	c->frames = ways ? ways << sets_log2 : frames;
	c->pages = pages;
}

static void draw_table(uint64_t *s)
{
	uint32_t pages = 2 + draw_below(s, MOST_PAGES - 1);
	uint32_t sets_log2 = draw_below(s, 2);

	if (draw_chance(s, 50))
		set_table(0, 0, 1 + draw_below(s, 4), pages);
	else
		set_table(sets_log2 ? 1 + draw_below(s, 2) : 1 + draw_below(s, 3), sets_log2, 0, pages);
	the_trial.cache.policy = draw_below(s, 3);
}

static void draw_faults(uint64_t *s, struct trial *t)
{
	int healthy = draw_chance(s, 40);

	for (int k = 0; k < CALLS; k++) {
		t->planned[k].first = healthy ? 0 : draw_below(s, 2) * draw_below(s, 3);
		t->planned[k].percent = healthy ? 0 : draw_below(s, 2) * draw_below(s, 60);
	}
}

static void draw_steps(uint64_t *s, struct trial *t)
{
	/* without holds, flushes and overwrites, or with */
	uint32_t ops = draw_chance(s, 30) ? OP_HOLD : OPS;
	uint32_t steps = 1 + draw_below(s, MOST_STEPS);

	for (uint32_t k = 0; k < MOST_WRITERS; k++) {
		t->steps[k] = steps;
		for (uint32_t n = 0; n < steps; n++) {
			struct step *step = &t->step[k][n];

			step->op = (uint8_t)draw_below(s, ops);
			step->page = (uint8_t)draw_below(s, (uint32_t)t->cache.pages);
			step->other = (uint8_t)draw_below(s, (uint32_t)t->cache.pages);
			step->word = (uint8_t)draw_below(s, PAGE_WORDS);
		}
	}
}

/* Whose pages are whose. */
static void draw_owners(uint64_t *s, struct trial *t)
{
	t->counts = draw_chance(s, 60);
	for (uint32_t page = 0; page < MOST_PAGES; page++)
		t->whole[page] = (uint8_t)(draw_chance(s, 25) ? draw_below(s, t->threads) : (uint32_t)SHARED);
}

static unsigned width; /* lanes of a warp in the trials of this seed */

static unsigned width_of(uint64_t seed)
{
	static const unsigned widths[] = {1, 1, 2, 4};

	width = widths[draw_below(&seed, 4)];
	if (draw_chance(&seed, 5))
		width = WIDE;
	return width;
}

/*
 * A whole warp reads elements of a page or two at each step, the way that only whole warps take; the others
 * do as before.
 */
static void draw_wide(uint64_t *s, struct trial *t)
{
	const uint32_t others = t->threads - 1, steps = 1 + draw_below(s, 3);

	for (uint32_t k = others; k--;) {
		memcpy(t->step[WIDE + k], t->step[k], sizeof *t->step);
		t->steps[WIDE + k] = t->steps[k];
	}
	t->readers = WIDE;
	t->threads = WIDE + others;
	for (uint32_t n = 0; n < steps; n++) {
		const uint8_t op = draw_chance(s, 70) ? OP_READ : OP_HALVES;
		const uint8_t page = (uint8_t)draw_below(s, (uint32_t)t->cache.pages);
		const uint32_t apart = draw_below(s, 3);

		for (uint32_t k = 0; k < WIDE; k++) {
			struct step step = {op, (uint8_t)((page + draw_below(s, 1 + apart)) % t->cache.pages),
			                    (uint8_t)draw_below(s, PAGE_WORDS), 0};

			t->steps[k] = steps;
			t->step[k][n] = step;
		}
	}
	set_table(0, 0, 1 + draw_below(s, 3), (uint32_t)t->cache.pages);
	t->sector_log2 = 3;
	t->way = BY_FAULTS;
}

static void draw_trial(uint64_t seed)
{
	struct trial *t = &the_trial;
	uint64_t s = seed;

	draw_table(&s);
	t->threads = 1 + draw_below(&s, MOST_WRITERS);
	t->readers = 0;
	t->version = 0u - draw_below(&s, 4);
	t->patience_ns = draw_chance(&s, 85) ? (uint32_t)FOREVER_NS : 10000 + draw_below(&s, 200000);
	draw_faults(&s, t);
	draw_steps(&s, t);
	t->lingers = draw_chance(&s, 50);
	t->sector_log2 = draw_chance(&s, 70) * (3 + draw_below(&s, 2));
	draw_owners(&s, t);
	t->low_water = draw_chance(&s, 50) * (1 + draw_below(&s, 3));
	t->reads_ahead = draw_chance(&s, 50);
	t->seed = draw(&s);
	t->lot = draw_chance(&s, 50) * (2 + draw_below(&s, 3));
	t->way = (enum way)draw_below(&s, 3);
	if (width == WIDE)
		draw_wide(&s, t);
	t->leaders = t->cache.frames > 3 && t->cache.policy == GN_CLOCK && draw_chance(&s, 50);
	t->hands_began = draw_chance(&s, 50);
	t->announces = draw_chance(&s, 50) * (1 + draw_chance(&s, 25));
}

static void set_small(const struct small *s)
{
	struct trial *t = &the_trial;

	memset(t->step, 0, sizeof t->step);
	t->readers = 0;
	set_table(s->ways, 0, s->frames, s->pages);
	t->cache.policy = s->policy;
	t->patience_ns = FOREVER_NS;
	for (t->threads = 2; t->threads < 4 && s->script[t->threads];)
		t->threads++;
	for (uint32_t k = 0; k < t->threads; k++)
		t->steps[k] = parse(t->step[k], s->script[k]);
	t->version = 0u - 1;
	memset(t->planned, 0, sizeof t->planned);
	t->planned[FETCH].first = s->failing_fetches;
	t->planned[PUT].first = s->failing_puts;
	t->lingers = !s->interrupted;
	t->sector_log2 = s->sector_log2;
	t->lot = t->leaders = t->hands_began = 0;
	t->announces = s->announces;
	t->low_water = s->low_water;
	t->counts = (uint32_t)s->counts;
	t->reads_ahead = s->reads_ahead;
	for (uint32_t page = 0; page < MOST_PAGES; page++)
		t->whole[page] = (uint8_t)(s->whole && page < t->threads ? page : (uint32_t)SHARED);
	t->seed = 1;
	t->way = s->way;
}

static const char *pick(unsigned k, struct simt_exploration *bound)
{
	if (k >= sizeof small / sizeof *small)
		return NULL;
	set_small(&small[k]);
	bound->preemptions = small[k].preemptions;
	bound->warp_width = small[k].warp_width;
	return small[k].name;
}

static struct simt_grid grid(void)
{
	struct simt_grid one_block = {1, the_trial.threads, 0};

	return one_block;
}

/* ---- before a run ---- */

static void reset_cache(struct trial *t)
{
	struct gn_cache_view *c = &t->cache;
	uint64_t version = ((uint64_t)t->version << GN__WORD_VERSION_SHIFT) & GN__WORD_VERSION;

	c->word = t->word;
	c->owner = c->ways ? NULL : t->owner;
	c->lock = c->ways ? t->lock : NULL;
	c->frame = (char *)t->frame;
	c->page_log2 = PAGE_LOG2;
	c->sector = t->sector_log2 ? t->sector : NULL;
	c->sector_log2 = t->sector_log2 ? t->sector_log2 : (uint32_t)PAGE_LOG2;
	c->stream = t->reads_ahead ? t->stream : NULL;
	c->lot = t->lot;
	c->leaders = t->leaders;
	c->hands = GN_CACHE_HANDS;
	c->window = 1;
	c->laps = 2;
	c->moved_most = 32;
	c->low_water = t->low_water;
	c->announcers = t->announces > 1 ? (uint32_t)PROCESSORS : t->announces;
	c->wait_ns = t->patience_ns;
	c->begun = t->way == BY_BLOCKS ? t->begun : NULL;
	c->begun_rows = 1;
	c->shared = &t->shared;
	c->stripe = t->stripe;
	c->segments = 1;
	c->segment[0].pages = c->pages;
	c->segment[0].store.kind = t->way == BY_BLOCKS ? GN_STORE_QUEUES : GN_STORE_MEMORY;
	c->segment[0].store.capacity_bytes = (c->pages << PAGE_LOG2) - (1 << PAGE_LOG2) / 2;
	c->segment[0].store.memory = (char *)(void *)t;
	for (uint32_t k = 0; k < MOST_PAGES; k++)
		t->word[k] = version;
	memset(t->owner, 0xff, sizeof t->owner);
	memset(t->sector, 0xff, sizeof t->sector);
	memset(t->stream, 0, sizeof t->stream);
	memset(t->lock, 0, sizeof t->lock);
	memset(t->frame, 0x5a, sizeof t->frame);
	memset(t->begun, 0, sizeof t->begun);
	memset(&t->shared, 0, sizeof t->shared);
	for (uint32_t hand = 0; hand < GN_CACHE_HANDS && t->hands_began; hand++)
		t->shared.hand[hand].at = c->frames;
	memset(t->stripe, 0, sizeof t->stripe);
}

static void reset_array(struct trial *t)
{
	struct gn_array *a = &t->array;

	memset(a, 0, sizeof *a);
	a->count = t->cache.segment[0].store.capacity_bytes / sizeof(uint64_t);
	a->pages.word = t->cache.owner ? t->word : NULL;
	a->pages.frame = t->cache.frame;
	a->pages.cache = &t->cache;
	a->failure = &t->failure;
	a->element_log2 = 3;
	a->pages.page_log2 = PAGE_LOG2;
	a->pages.counting = 1;
	a->pages.sector_log2 = t->cache.sector_log2;
	if (t->way == BY_FAULTS && a->pages.word && t->cache.sector) {
		a->pages.sector = t->sector;
		a->pages.backing = (char *)t->disk;
	}
	t->halves = *a;
	gn__array_bounds(a, a->pages.word != NULL);
	t->halves.count *= 2;
	t->halves.element_log2 = 2;
	gn__array_bounds(&t->halves, 0);
	memset(&t->failure, 0, sizeof t->failure);
}

static void reset_elements(struct trial *t)
{
	memset(t->number, 0, sizeof t->number);
	memset(t->overwriting, 0, sizeof t->overwriting);
	memset(t->overwrites, 0, sizeof t->overwrites);
	for (uint32_t k = 0; k < ELEMENTS; k++) {
		t->disk[k / PAGE_WORDS][k % PAGE_WORDS] = trial_value(k, 1);
		t->number[k][1] = WRITTEN;
		t->last[k] = t->floor[k] = 1;
	}
}

static void reset_store(struct trial *t)
{
	t->random = t->seed;
	memcpy(t->fault, t->planned, sizeof t->fault);
	memset(t->fetching, 0, sizeof t->fetching);
	memset(t->putting, 0, sizeof t->putting);
	memset(t->saving, 0, sizeof t->saving);
	memset(t->filling, 0, sizeof t->filling);
	memset(t->filler, 0, sizeof t->filler);
	memset(t->held, 0, sizeof t->held);
	memset(t->calls, 0, sizeof t->calls);
	memset(t->failed, 0, sizeof t->failed);
	memset(t->moved, 0, sizeof t->moved);
}

static void reset(void *unused)
{
	struct trial *t = &the_trial;

	(void)unused;
	reset_cache(t);
	reset_array(t);
	reset_store(t);
	reset_elements(t);
	t->errors = t->finished = t->kept_out = 0;
	t->wrong = NULL;
}

/* ---- after a run ---- */

/* The last write that succeeded is what the store holds. */
static int check_disk(const struct trial *t)
{
	for (uint32_t k = 0; k < t->array.count; k++) {
		uint32_t number = t->last[k];

		while (t->number[k][number] != WRITTEN)
			number--;
		if (t->disk[k / PAGE_WORDS][k % PAGE_WORDS] != trial_value(k, number))
			return model_wrong("element %u: write %u of %u is lost, the store has %llx", k,
			                   number, t->last[k],
			                   (unsigned long long)t->disk[k / PAGE_WORDS][k % PAGE_WORDS]);
	}
	return 0;
}

static int check_words(const struct trial *t)
{
	uint32_t words = t->cache.owner ? (uint32_t)t->cache.pages : t->cache.frames;

	for (uint32_t k = 0; k < words; k++) {
		uint64_t word = t->word[k];

		if (word & (GN__WORD_BUSY | GN__WORD_DIRTY) || (word & GN__WORD_HELD && word & GN__WORD_PINS))
			return model_wrong("word %u is busy, dirty or pinned in the end: %llx", k,
			                   (unsigned long long)word);
		if (t->cache.owner && word & GN__WORD_HELD && t->owner[gn__word_payload(word)] != k)
			return model_wrong("page %u is in frame %u, which belongs to page %u", k,
			                   gn__word_payload(word), t->owner[gn__word_payload(word)]);
	}
	return 0;
}

/* Where the page of a frame is to be found in the end; UINT32_MAX if the frame has none. */
static uint32_t page_in(const struct trial *t, uint32_t frame, uint64_t *word)
{
	const uint32_t page = t->cache.owner ? t->owner[frame]
	                                     : (uint32_t)gn__page_of(&t->cache, frame / t->cache.ways,
	                                                             gn__word_payload(t->word[frame]));

	if (page >= t->cache.pages)
		return UINT32_MAX;
	*word = t->word[t->cache.owner ? page : frame];
	return *word & GN__WORD_HELD ? page : UINT32_MAX;
}

/* Nothing is dirty in the end: a frame has of its page what the store has, or says that it has not. */
static int check_sectors(const struct trial *t, uint32_t frame)
{
	const uint64_t sectors = t->cache.sector ? t->sector[frame] : UINT32_MAX;
	const uint32_t valid = gn__sector_valid(sectors);
	uint64_t word;
	const uint32_t page = page_in(t, frame, &word);

	if (page == UINT32_MAX)
		return 0;
	if (gn__sector_moving(sectors))
		return model_wrong("frame %u has a sector in motion in the end: %llx", frame,
		                   (unsigned long long)sectors);
	if (!(word & GN__WORD_VALID) != (valid != UINT32_MAX))
		return model_wrong("the page in frame %u is %llx, its sectors are %llx", frame,
		                   (unsigned long long)word, (unsigned long long)sectors);
	for (uint32_t k = 0; k < words_of(t, page); k++)
		if (valid >> (k * 8 >> t->cache.sector_log2) & 1 && t->frame[frame][k] != t->disk[page][k])
			return model_wrong("word %u of the page in frame %u is %llx, the store has %llx", k,
			                   frame, (unsigned long long)t->frame[frame][k],
			                   (unsigned long long)t->disk[page][k]);
	return 0;
}

static int check_begun(const struct trial *t)
{
	for (uint32_t k = 0; k < GN__BEGUN_PLACES; k++)
		if (t->begun[k].state & 3)
			return model_wrong("the fetch of page %u has not ended in the end: state %x",
			                   (uint32_t)t->begun[k].page, t->begun[k].state);
	return t->shared.begun ? model_wrong("%u fetches count as begun in the end", t->shared.begun) : 0;
}

static int check_frames(const struct trial *t)
{
	for (uint32_t k = 0; k < GN_CACHE_ABSENT; k++)
		if (t->shared.kept_absent[k])
			return model_wrong("page %u is kept absent in the end",
			                   (uint32_t)t->shared.kept_absent[k] - 1);
	for (uint32_t k = 0; k < t->cache.frames; k++) {
		if (t->lock[k] & 1)
			return model_wrong("a set is locked in the end");
		if (t->cache.owner && t->owner[k] != GN__OWNER_FREE &&
		    (t->owner[k] >= t->cache.pages || !(t->word[t->owner[k]] & GN__WORD_HELD)))
			return model_wrong("frame %u is lost: its owner is %x", k, t->owner[k]);
		for (uint32_t other = 0; !t->cache.owner && other < k; other++)
			if (k / t->cache.ways == other / t->cache.ways && t->word[k] & GN__WORD_HELD &&
			    t->word[other] & GN__WORD_HELD &&
			    gn__word_payload(t->word[k]) == gn__word_payload(t->word[other]))
				return model_wrong("frames %u and %u hold one page", other, k);
		if (check_sectors(t, k))
			return 1;
	}
	return 0;
}

/*
 * Counters are exact: what the store did is what the cache counted, but for transfers that failed half-way.
 * Reads around the cache count 32 bytes for each line at most; no transfer of the store stands behind them.
 */
static int check_counters(const struct trial *t)
{
	const uint32_t failures = t->failed[FETCH] + t->failed[PUT];
	uint64_t fetched = 0, written = 0, bypassed = 0, around;

	for (uint32_t k = 0; k < GN_CACHE_STRIPES; k++) {
		fetched += t->stripe[k].fetched_bytes;
		written += t->stripe[k].written_bytes;
		bypassed += t->stripe[k].bypassed;
	}
	around = fetched - t->moved[FETCH];
	if (!failures && (around > 32 * bypassed || around % 32 || written != t->moved[PUT]))
		return model_wrong(
		    "%llu bytes of the store were read and %llu written, the cache counted %llu and %llu",
		    (unsigned long long)t->moved[FETCH], (unsigned long long)t->moved[PUT],
		    (unsigned long long)fetched, (unsigned long long)written);
	if (t->shared.write_failures != t->failed[PUT])
		return model_wrong("%u write-backs failed, %u were counted", t->failed[PUT],
		                   t->shared.write_failures);
	return 0;
}

/* An error is kept in the array, with its page's status. */
static int check_failure_record(const struct trial *t)
{
	const struct gn_failure *f = &t->failure;

	if (!t->errors != !f->state)
		return model_wrong("%u accesses failed, but the array's record is %u", t->errors, f->state);
	if (f->code == -GN_EIO && !t->kept_out && f->device != 0x100 + f->index / PAGE_WORDS &&
	    f->device != 0x100 + f->index / 2 / PAGE_WORDS)
		return model_wrong("element %llu failed with another page's status %x",
		                   (unsigned long long)f->index, f->device);
	return 0;
}

static int check(void *unused)
{
	const struct trial *t = &the_trial;

	(void)unused;
	if (t->wrong)
		return model_wrong("%s", t->wrong);
	return check_disk(t) || check_words(t) || check_frames(t) || check_begun(t) || check_counters(t) ||
	       check_failure_record(t);
}

int main(int argc, char **argv)
{
	static const struct model model = {
	    "cache", &cache_trial_kernel, &the_arguments, draw_trial, pick, grid, reset, check, width_of};

	return model_main(&model, argc, argv);
}
