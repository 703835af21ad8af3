/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast level of a tier under every kind of schedule: threads read and write pages of a few lines, which
 * share one set and are more than it has room for, while the slow store fails when the trial says, and others
 * flush. What must hold:
 *   - a page reads as it was last written, whoever wrote other pages of the line meanwhile;
 *   - no two threads write one page to the slow store at once;
 *   - a line is in one way at most; after a flush that is well the slow store has every byte;
 *   - a transfer fails only if the slow store did, and nobody waits for ever.
 *
 * Each page has one user at a time, as with a cache in front; who it is changes.
 */
#define GN__TIER_WAYS 2

#include "draw.h"
#include "harness.h"

#include <grapnel/detail/simt/copy.h>

SIMT_FN void trial_copy_each(uint32_t mask, uint32_t wants, void *to, const void *from, uint32_t bytes);
#define simt_copy_each trial_copy_each

/* The slow store is the trial's own. */
#define GRAPNEL_STORE_PLAIN_H
#include <grapnel/nvmeq.h>
struct gn_store_view;
struct gn_store_status;
SIMT_NOINLINE_FN struct gn_store_status gn__plain_read(const struct gn_store_view *s, uint32_t mask,
                                                       int wants, uint64_t offset, void *to, uint32_t bytes);
SIMT_NOINLINE_FN struct gn_store_status gn__plain_write(const struct gn_store_view *s, uint32_t mask,
                                                        int wants, uint64_t offset, const void *from,
                                                        uint32_t bytes);
SIMT_NOINLINE_FN struct gn_store_status gn__plain_read_few(const struct gn_store_view *s, uint64_t offset,
                                                           void *to, uint32_t bytes);
SIMT_NOINLINE_FN struct gn_store_status gn__plain_write_few(const struct gn_store_view *s, uint64_t offset,
                                                            const void *from, uint32_t bytes);
#include <grapnel/store.h>

enum {
	LINE_LOG2 = 6,
	LINE = 1 << LINE_LOG2,
	PAGE = LINE / 2,
	WORDS = PAGE / 8,
	MOST_SETS = 2,
	MOST_WAYS = MOST_SETS * GN__TIER_WAYS,
	MOST_LINES = 6,
	MOST_PAGES = 2 * MOST_LINES,
	MOST_THREADS = 6,
	MOST_STEPS = 6
};

/* What a thread does: something to one page or to a whole line, or a flush of everything. */
enum act { READ, WRITE, READ_LINE, WRITE_LINE, WORD, FLUSH, ACTS };

struct step {
	uint8_t act, page;
};

struct trial {
	struct gn_tier_view tier;
	struct gn_store_view view;
	struct gn_tier_counts counts;
	uint64_t word[MOST_WAYS];
	uint32_t set[MOST_SETS];
	uint64_t fast[MOST_WAYS * LINE / 8], slow[MOST_LINES * LINE / 8];
	uint64_t page[MOST_PAGES]; /* what each must be */
	uint32_t busy[MOST_PAGES]; /* 1: it has a user */
	uint32_t uses[MOST_PAGES];
	uint32_t reading[MOST_PAGES],
	    writing[MOST_PAGES]; /* transfers of the slow store that are under way */
	struct step script[MOST_THREADS][MOST_STEPS];
	uint32_t threads, steps, sets, lines, fails_percent, finished;
	uint32_t mended; /* 1: the slow store fails no more */
	uint64_t seed, random;
	uint64_t failed; /* transfers of the slow store */
	const char *wrong;
};

#include "trial.h"

/* Half of it, and the rest; another thread may run between them. */
SIMT_FN void copy_halves(struct trial *t, void *to, const void *from, uint32_t bytes)
{
	const uint32_t half = bytes / 16 * 8;

	memcpy(to, from, half);
	simt_load_relaxed_dev_u32(&t->finished);
	memcpy((char *)to + half, (const char *)from + half, bytes - half);
}

SIMT_FN void trial_copy_each(uint32_t mask, uint32_t wants, void *to, const void *from, uint32_t bytes)
{
	simt_warp_sync(mask);
	if (!(mask & (mask - 1)) ? wants != 0 : wants >> simt_lane() & 1)
		copy_halves(&the_trial, to, from, bytes);
	simt_warp_sync(mask);
}

/* ---- the slow store ---- */

SIMT_FN struct gn_store_status slow_moves(struct trial *t, uint64_t offset, char *memory, uint32_t bytes,
                                          int writes)
{
	const uint64_t first = offset / PAGE, end = (offset + bytes + PAGE - 1) / PAGE;
	struct gn_store_status status = {0, 0};
	char *slow = (char *)t->slow + offset;

	for (uint64_t p = first; p < end && writes; p++)
		if (t->writing[p]++)
			blame(t, "a page is written to the slow store twice at once");
	if (!t->mended && draw_chance(&t->random, t->fails_percent)) {
		simt_load_relaxed_dev_u32(&t->finished);
		t->failed++;
		status.code = -GN_EIO;
	} else {
		copy_halves(t, writes ? slow : memory, writes ? memory : slow, bytes);
	}
	for (uint64_t p = first; p < end && writes; p++)
		t->writing[p]--;
	return status;
}

SIMT_NOINLINE_FN struct gn_store_status gn__plain_read(const struct gn_store_view *s, uint32_t mask,
                                                       int wants, uint64_t offset, void *to, uint32_t bytes)
{
	struct gn_store_status status = {0, 0};

	(void)s;
	simt_warp_sync(mask);
	if (wants)
		status = slow_moves(&the_trial, offset, (char *)to, bytes, 0);
	simt_warp_sync(mask);
	return status;
}

SIMT_NOINLINE_FN struct gn_store_status gn__plain_write(const struct gn_store_view *s, uint32_t mask,
                                                        int wants, uint64_t offset, const void *from,
                                                        uint32_t bytes)
{
	struct gn_store_status status = {0, 0};

	(void)s;
	simt_warp_sync(mask);
	if (wants)
		status = slow_moves(&the_trial, offset, (char *)(uintptr_t)from, bytes, 1);
	simt_warp_sync(mask);
	return status;
}

SIMT_NOINLINE_FN struct gn_store_status gn__plain_read_few(const struct gn_store_view *s, uint64_t offset,
                                                           void *to, uint32_t bytes)
{
	return gn__plain_read(s, 1u << simt_lane(), 1, offset, to, bytes);
}

SIMT_NOINLINE_FN struct gn_store_status gn__plain_write_few(const struct gn_store_view *s, uint64_t offset,
                                                            const void *from, uint32_t bytes)
{
	return gn__plain_write(s, 1u << simt_lane(), 1, offset, from, bytes);
}

/* ---- users ---- */

SIMT_FN uint64_t content_of(uint64_t value, uint64_t k)
{
	return draw_mix(value * 16 + k % WORDS);
}

/* Be the only user of these pages. No schedule runs anybody between the looks and the marks. */
SIMT_FN int begin_use(struct trial *t, uint64_t first, uint64_t pages)
{
	if (t->busy[first] || t->busy[first + pages - 1])
		return 0;
	t->busy[first] = t->busy[first + pages - 1] = 1;
	t->uses[first]++;
	t->uses[first + pages - 1] += pages > 1;
	return 1;
}

SIMT_FN void end_use(struct trial *t, uint64_t first, uint64_t pages)
{
	t->busy[first] = t->busy[first + pages - 1] = 0;
}

SIMT_FN int is_content(const struct trial *t, uint64_t page, const uint64_t *words)
{
	for (uint64_t k = 0; k < WORDS; k++)
		if (words[k] != content_of(t->page[page], k))
			return 0;
	return 1;
}

SIMT_FN void check_status(struct trial *t, struct gn_store_status status)
{
	if (status.code == -GN_ETIMEDOUT)
		blame(t, "a thread waits for ever");
	else if (status.code && (status.code != -GN_EIO || !t->failed))
		blame(t, "a transfer failed and the slow store did not");
}

SIMT_FN void read_pages(struct trial *t, uint32_t mask, int wants, uint64_t first, uint64_t pages)
{
	uint64_t got[LINE / 8];
	struct gn_store_status status;

	memset(got, 0xee, sizeof got);
	status = gn_store_read_warp(&t->view, mask, wants, first * PAGE, got, (uint32_t)pages * PAGE);
	if (!wants)
		return;
	check_status(t, status);
	for (uint64_t k = 0; k < pages && !status.code; k++)
		if (!is_content(t, first + k, got + k * WORDS))
			blame(t, "a page is not as it was written");
	end_use(t, first, pages);
}

/* A page whose write failed has its old bytes. */
SIMT_FN void write_pages(struct trial *t, uint32_t mask, int wants, uint64_t first, uint64_t pages,
                         uint64_t value)
{
	uint64_t bytes[LINE / 8];
	struct gn_store_status status;

	for (uint64_t k = 0; k < pages * WORDS; k++)
		bytes[k] = content_of(value, k);
	status = gn_store_write_warp(&t->view, mask, wants, first * PAGE, bytes, (uint32_t)pages * PAGE);
	if (!wants)
		return;
	check_status(t, status);
	for (uint64_t k = 0; k < pages && !status.code; k++)
		t->page[first + k] = value;
	end_use(t, first, pages);
}

/* Read a word, and write it again, as one thread. */
SIMT_FN void use_word(struct trial *t, uint64_t page)
{
	const uint64_t at = page * PAGE + 8 * (page % WORDS);
	uint64_t got = 0;
	struct gn_store_status status = gn_store_read_thread(&t->view, at, &got, 8);

	check_status(t, status);
	if (!status.code) {
		if (got != content_of(t->page[page], page))
			blame(t, "a word is not as it was written");
		status = gn_store_write_thread(&t->view, at, &got, 8);
		check_status(t, status);
	}
	end_use(t, page, 1);
}

SIMT_FN int clean_all(struct trial *t)
{
	int code = 0;

	for (uint64_t way = 0; way < t->sets * GN__TIER_WAYS; way++) {
		const struct gn_store_status status =
		    gn__tier_clean(&t->view, 1u << simt_lane(), 1, way, 0, t->lines, 0);

		check_status(t, status);
		code = code ? code : status.code;
	}
	return code;
}

/* What nobody used during a flush that was well is in the slow store. */
SIMT_FN void flush(struct trial *t)
{
	uint32_t uses[MOST_PAGES], free = 0;

	for (uint32_t p = 0; p < 2 * t->lines; p++) {
		uses[p] = t->uses[p];
		free |= (uint32_t)!t->busy[p] << p;
	}
	if (clean_all(t))
		return;
	for (uint32_t p = 0; p < 2 * t->lines; p++)
		if (free >> p & 1 && uses[p] == t->uses[p] && !is_content(t, p, t->slow + p * WORDS))
			blame(t, "a flush did not write a page");
}

SIMT_FN void do_step(struct trial *t, uint32_t mask, struct step s, uint64_t value)
{
	const uint64_t pages = s.act == READ_LINE || s.act == WRITE_LINE ? 2 : 1;
	const uint64_t first = pages == 2 ? s.page & ~1u : s.page;
	const int reads = s.act == READ || s.act == READ_LINE, writes = s.act == WRITE || s.act == WRITE_LINE;
	const int uses = s.act != FLUSH && begin_use(t, first, pages);

	if (simt_ballot(mask, uses && reads))
		read_pages(t, mask, uses && reads, first, pages);
	if (simt_ballot(mask, uses && writes))
		write_pages(t, mask, uses && writes, first, pages, value);
	if (uses && s.act == WORD)
		use_word(t, first);
	if (s.act == FLUSH)
		flush(t);
}

/* The last thread flushes a slow store that has been mended. */
SIMT_FN void end_trial(struct trial *t)
{
	t->mended = 1;
	if (clean_all(t))
		blame(t, "a flush of a slow store that does not fail fails");
	for (uint32_t p = 0; p < 2 * t->lines; p++)
		if (!is_content(t, p, t->slow + p * WORDS))
			blame(t, "a page is lost");
}

SIMT_FN void tier_trial(const struct arguments *a)
{
	struct trial *t = a->t;
	const uint32_t me = simt_thread();

	for (uint32_t k = 0; k < t->steps; k++)
		do_step(t, simt_active(), t->script[me][k], ((uint64_t)me + 1) << 8 | (k + 1));
	if (simt_add_acq_rel_dev_u32(&t->finished, 1) + 1 == t->threads)
		end_trial(t);
}
SIMT_KERNEL(tier_trial, struct arguments)

/* ---- trials ---- */

static void set(uint32_t threads, uint32_t steps, uint32_t sets, uint32_t lines, uint32_t fails_percent,
                uint64_t seed)
{
	the_trial.threads = threads;
	the_trial.steps = steps;
	the_trial.sets = sets;
	the_trial.lines = lines;
	the_trial.fails_percent = fails_percent;
	the_trial.seed = seed;
}

static unsigned width_of(uint64_t seed)
{
	return 1u << draw_below(&seed, 3);
}

static void draw_trial(uint64_t seed)
{
	static const uint8_t acts[] = {READ, READ, READ, WRITE, WRITE, READ_LINE, WRITE_LINE, WORD, FLUSH};
	uint64_t s = seed;
	const uint32_t sets = 1 + draw_chance(&s, 30), lines = 2 + draw_below(&s, MOST_LINES - 1);
	const uint32_t threads = 2 + draw_below(&s, MOST_THREADS - 1);

	for (uint32_t k = 0; k < MOST_THREADS * MOST_STEPS; k++) {
		struct step *step = &the_trial.script[k / MOST_STEPS][k % MOST_STEPS];

		step->act = acts[draw_below(&s, sizeof acts)];
		step->page = (uint8_t)draw_below(&s, 2 * lines);
	}
	set(threads, 1 + draw_below(&s, MOST_STEPS), sets, lines, draw_chance(&s, 50) ? 0 : 20, seed);
}

/* A script in words: an act's letter and a page, for each thread in turn. */
static void take_script(const char *text, uint32_t threads, uint32_t steps)
{
	static const char letters[] = "rwRWoF";

	for (uint32_t k = 0; k < threads * steps; k++, text += 2) {
		struct step *step = &the_trial.script[k / steps][k % steps];

		step->act = (uint8_t)(strchr(letters, text[0]) - letters);
		step->page = (uint8_t)(text[1] - '0');
	}
}

static const char *pick(unsigned k, struct simt_exploration *bound)
{
	static const struct {
		const char *name;
		uint32_t width, threads, steps;
		const char *script;
		uint32_t lines, fails;
		unsigned preemptions;
	} small[] = {
	    {"two write the halves of one line", 1, 2, 1, "w0w1", 1, 0, 5},
	    {"one line is read, the other half written", 1, 2, 2, "r0r0w1r1", 1, 0, 4},
	    {"three lines in two ways", 1, 3, 1, "W0W2w4", 3, 0, 3},
	    {"a dirty line leaves and comes back", 1, 2, 3, "W0r2r4W6r0r0", 4, 0, 4},
	    {"two evict at once", 1, 2, 2, "w0w2w4w6", 4, 0, 4},
	    {"a flush beside a writer", 1, 2, 2, "w0w0F0F0", 1, 0, 4},
	    {"a flush beside an eviction", 1, 2, 3, "W0W2r4F0F0F0", 3, 0, 4},
	    {"two flush, one writes", 1, 3, 1, "w0F0F0", 1, 0, 3},
	    {"words and lines", 1, 2, 2, "o0R2W0o3", 2, 0, 3},
	    {"nothing can be written", 1, 2, 3, "W0W2r4W6r0r6", 4, 100, 3},
	    {"half of all fails", 1, 2, 2, "w0r4w2r0", 3, 50, 4},
	    {"a warp of 2 wants one line", 2, 2, 2, "r0w2w1r3", 2, 0, 4},
	    {"a warp of 2 and three lines", 2, 2, 2, "W0r4W2r0", 3, 0, 4},
	};

	if (k >= sizeof small / sizeof *small)
		return NULL;
	take_script(small[k].script, small[k].threads, small[k].steps);
	set(small[k].threads, small[k].steps, 1, small[k].lines, small[k].fails, k + 1);
	bound->preemptions = small[k].preemptions;
	bound->warp_width = small[k].width;
	return small[k].name;
}

static struct simt_grid grid(void)
{
	const struct simt_grid one_block = {1, the_trial.threads, 0};

	return one_block;
}

static void reset_tier(struct trial *t)
{
	memset(&t->tier, 0, sizeof t->tier);
	memset(&t->view, 0, sizeof t->view);
	t->tier.slow.capacity_bytes = (uint64_t)t->lines * LINE;
	t->tier.fast = (char *)t->fast;
	t->tier.word = t->word;
	t->tier.set = t->set;
	t->tier.counts = &t->counts;
	t->tier.sets = t->sets;
	t->tier.line_log2 = LINE_LOG2;
	t->view.kind = GN_STORE_QUEUES;
	t->view.block_bytes = 16;
	t->view.capacity_bytes = t->tier.slow.capacity_bytes;
	t->view.timeout_ns = 100000000000u; /* far beyond what any run needs */
	t->view.transfer_bytes = LINE;
	t->view.unit_log2 = LINE_LOG2;
	t->view.members = 2;
	t->view.tier = &t->tier;
}

static void reset(void *unused)
{
	struct trial *t = &the_trial;

	(void)unused;
	reset_tier(t);
	memset(&t->counts, 0, sizeof t->counts);
	memset(t->word, 0, sizeof t->word);
	memset(t->set, 0, sizeof t->set);
	memset(t->fast, 0xdd, sizeof t->fast);
	for (uint32_t k = 0; k < MOST_PAGES * WORDS; k++)
		t->slow[k] = content_of(0, k);
	memset(t->page, 0, sizeof t->page);
	memset(t->busy, 0, sizeof t->busy);
	memset(t->uses, 0, sizeof t->uses);
	memset(t->writing, 0, sizeof t->writing);
	t->random = t->seed;
	t->failed = 0;
	t->finished = t->mended = 0;
	t->wrong = NULL;
}

static int check(void *unused)
{
	const struct trial *t = &the_trial;
	const uint32_t ways = t->sets * GN__TIER_WAYS;

	(void)unused;
	if (t->wrong)
		return model_wrong("%s", t->wrong);
	for (uint32_t k = 0; k < ways; k++) {
		if (t->word[k] & (GN__TIER_BUSY | GN__TIER_PINS | GN__TIER_DIRTY))
			return model_wrong("way %u was left with %llx", k, (unsigned long long)t->word[k]);
		for (uint32_t other = 0; other < k; other++)
			if (t->word[k] && gn__tier_line_of(t->word[k]) == gn__tier_line_of(t->word[other]) &&
			    t->word[other])
				return model_wrong("ways %u and %u have one line", other, k);
	}
	for (uint32_t k = 0; k < t->sets; k++)
		if (t->set[k] & 1)
			return model_wrong("set %u was left locked", k);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct model model = {
	    "tier", &tier_trial_kernel, &the_arguments, draw_trial, pick, grid, reset, check, width_of};

	return model_main(&model, argc, argv);
}
