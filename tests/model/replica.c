/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A replica under every kind of schedule: threads read and write blocks while members fail, and one thread
 * puts stale members back. What must hold:
 *   - a block reads as it was last written;
 *   - at the end every member that is read has all blocks as they were last written, and the same bytes;
 *   - a write or a read fails only if a member did, and nobody waits for ever.
 *
 * Each block has one user at a time, as with a cache in front; who it is changes. A write that failed leaves
 * its blocks unknown until the next one.
 *
 * With TIER the threads use a tier over the replica (tier_replica.c). Lines are two blocks, and the fast
 * level has room for one, so lines leave all the time. At the end all are written, as far as members let
 * them.
 */
#ifdef TIER
#define GN__TIER_WAYS 1
#else
#define TIER 0
#endif
#include "draw.h"
#include "harness.h"
#include "replica_store.h"

enum {
	BLOCK_LOG2 = 4,
	WORDS = (1 << BLOCK_LOG2) / 8,
	MOST_MEMBERS = 3,
	MOST_BLOCKS = TIER ? 6 : 4,
	MOST_THREADS = 5,
	MOST_STEPS = 4
};

/* What a thread does: something to one block or to two; or it puts a stale member back. */
enum act { READ, WRITE, WRITE_TWO, WORD, BACK, HOST };

struct step {
	uint8_t act, at; /* a block, or a member */
};

struct trial {
	struct gn_store_view view;  /* the replica */
	struct gn_store_view users; /* the same, or the tier over it */
#if TIER
	struct gn_tier_view tier;
	struct gn_tier_counts counts;
	uint64_t word, fast[2 * WORDS];
	uint32_t set;
#endif
	struct gn_store_health health;
	struct gn_nvmeq queue[MOST_MEMBERS];
	uint64_t member[MOST_MEMBERS][MOST_BLOCKS * WORDS];
	uint64_t buffer[MOST_BLOCKS * WORDS];
	uint32_t missed, written;
	uint64_t block[MOST_BLOCKS][WORDS]; /* of what value each word must be */
	uint32_t unsure[MOST_BLOCKS];       /* 1: a write of it failed */
	uint32_t busy[MOST_BLOCKS];         /* 1: it has a user */
	struct step script[MOST_THREADS][MOST_STEPS];
	uint32_t threads, steps, members, blocks;
	uint32_t stale, weak; /* members that are stale at first; those that may fail */
	uint32_t fails_percent, whole, window_log2;
	uint32_t room;                /* 1: the host is at work */
	uint32_t returning, put_back; /* 1: a thread puts a member back; how often that went well */
	uint32_t finished;
	uint64_t seed, random, failed;
	const char *wrong;
};

#include "trial.h"

/* ---- members ---- */

/* Another thread may run before, between the halves, and after. A failure may have moved the first half. */
SIMT_FN struct gn_store_status gn__store_move_blocks(const struct gn_nvmeq *q, uint32_t mask, int wants,
                                                     uint32_t opcode, uint64_t offset, void *memory,
                                                     uint32_t bytes, uint64_t timeout_ns)
{
	struct trial *t = &the_trial;
	const uint32_t k = (uint32_t)(q - t->queue), half = bytes / 16 * 8;
	char *own = (char *)t->member[k] + offset;
	char *to = opcode == GN_NVME_WRITE ? own : (char *)memory;
	const char *from = opcode == GN_NVME_WRITE ? (const char *)memory : own;
	struct gn_store_status status = {0, 0};

	(void)mask, (void)timeout_ns;
	if (!wants)
		return status;
	simt_load_relaxed_dev_u32(&t->finished);
	if (t->weak >> k & 1 && draw_chance(&t->random, t->fails_percent)) {
		t->failed++;
		status.code = -GN_EIO;
		if (draw_chance(&t->random, 50))
			return status;
	}
	memcpy(to, from, half);
	simt_load_relaxed_dev_u32(&t->finished);
	if (!status.code)
		memcpy(to + half, from + half, bytes - half);
	simt_load_relaxed_dev_u32(&t->finished);
	return status;
}

/* ---- users ---- */

SIMT_FN uint64_t content_of(uint64_t value, uint64_t k)
{
	return draw_mix(value * 16 + k % WORDS);
}

/* No schedule runs anybody between the looks and the marks. */
SIMT_FN int begin_use(struct trial *t, uint64_t first, uint64_t blocks)
{
	if (t->busy[first] || t->busy[first + blocks - 1])
		return 0;
	t->busy[first] = t->busy[first + blocks - 1] = 1;
	return 1;
}

SIMT_FN void end_use(struct trial *t, uint64_t first, uint64_t blocks)
{
	t->busy[first] = t->busy[first + blocks - 1] = 0;
}

SIMT_FN int is_content(const struct trial *t, uint64_t block, const uint64_t *words)
{
	for (uint64_t k = 0; k < WORDS; k++)
		if (words[k] != content_of(t->block[block][k], k))
			return 0;
	return 1;
}

SIMT_FN void check_status(struct trial *t, struct gn_store_status status)
{
	if (status.code && (status.code != -GN_EIO || !t->failed))
		blame(t, "a transfer failed and no member did");
}

SIMT_FN void read_block(struct trial *t, uint64_t block, int few)
{
	const uint64_t at = block << BLOCK_LOG2;
	uint64_t got[WORDS];
	struct gn_store_status status;

	status = few ? gn_store_read_thread(&t->users, at, got, sizeof got)
	             : gn_store_read_warp(&t->users, 1u << simt_lane(), 1, at, got, sizeof got);
	check_status(t, status);
	if (!status.code && !t->unsure[block] && !is_content(t, block, got))
		blame(t, "a block is not as it was written");
}

/* Write the first word; the second must stay. */
SIMT_FN void write_word(struct trial *t, uint64_t block, uint64_t value)
{
	const uint64_t word = content_of(value, 0);
	struct gn_store_status status;

	if (t->unsure[block])
		return;
	status = gn_store_write_thread(&t->users, block << BLOCK_LOG2, &word, sizeof word);
	check_status(t, status);
	t->unsure[block] = status.code != 0;
	t->block[block][0] = status.code ? t->block[block][0] : value;
}

SIMT_FN void wrote_blocks(struct trial *t, uint64_t first, uint64_t blocks, uint64_t value,
                          struct gn_store_status status)
{
	check_status(t, status);
	for (uint64_t k = first; k < first + blocks; k++) {
		t->unsure[k] = status.code != 0;
		for (uint64_t w = 0; w < WORDS && !status.code; w++)
			t->block[k][w] = value;
	}
}

SIMT_FN void write_blocks(struct trial *t, uint64_t first, uint64_t blocks, uint64_t value)
{
	uint64_t bytes[2 * WORDS];
	const uint32_t length = (uint32_t)blocks << BLOCK_LOG2;
	struct gn_store_status status;

	for (uint64_t k = 0; k < blocks * WORDS; k++)
		bytes[k] = content_of(value, k);
	status = gn_store_write_warp(&t->users, 1u << simt_lane(), 1, first << BLOCK_LOG2, bytes, length);
	wrote_blocks(t, first, blocks, value, status);
}

/* The host does one thing at a time, and copies nothing meanwhile. */
SIMT_FN void enter(struct trial *t)
{
	while (simt_cas_acq_rel_dev_u32(&t->room, 0, 1))
		simt_relax();
}

SIMT_FN void leave(struct trial *t)
{
	simt_store_release_dev_u32(&t->room, 0);
}

/* ---- the tier ---- */

/* Write these lines as far as the fast level has them, and forget them if the caller wants. */
SIMT_FN int clean(struct trial *t, uint64_t first, uint64_t lines, int drops)
{
	struct gn_store_status status = {0, 0};

	(void)first, (void)lines, (void)drops;
#if TIER
	status = gn__tier_clean(&t->users, 1u << simt_lane(), 1, 0, first, lines, drops);
#endif
	check_status(t, status);
	return status.code;
}

/* What could not be written stays in the fast level. */
SIMT_FN void flush_at_the_end(struct trial *t)
{
	if (!clean(t, 0, UINT64_MAX, 0))
		return;
#if TIER
	for (uint64_t k = 0; k < 2; k++)
		t->unsure[2 * gn__tier_line_of(t->word) + k] = 1;
#endif
}

/* ---- the host ---- */

/* As the host of a GPU writes: by a copy of the health, and then it tells the device what has failed. */
SIMT_FN void write_by_host(struct trial *t, uint64_t block, uint64_t value)
{
	struct gn_store_health copy = t->health;
	struct gn_store_view view = t->view;
	struct gn__replica_round r;
	struct gn_back_news news;
	uint64_t bytes[WORDS];
	struct gn_store_status status;

	view.health = &copy;
	for (uint64_t k = 0; k < WORDS; k++)
		bytes[k] = content_of(value, k);
	gn__replica_round_begins(&view, &r);
	for (uint32_t k = 0; k < t->members; k++)
		if (gn__replica_gets(&r, k))
			gn__replica_wrote(&view, &r, k,
			                  gn__store_write_blocks(gn__set_member(&view, k), 1, 0, 1, 1,
			                                         block << BLOCK_LOG2, bytes, sizeof bytes,
			                                         0));
	status = gn__replica_written(&view, &r, block << BLOCK_LOG2, sizeof bytes);
	memset(&news, 0, sizeof news);
	news.bad = r.bad, news.ok = r.ok;
	gn__back_news(&t->view, &news);
	if (r.bad && !(r.ok & ~news.stale))
		status.code = -GN_EIO;
	wrote_blocks(t, block, 1, value, status);
}

/* As the host does it, step by step. */
SIMT_FN void put_back(struct trial *t, uint32_t member)
{
	struct gn_back b = {t->view, member, t->whole, 0, (char *)t->buffer};
	struct gn_back_copy copy = {0, GN_BACK_COPIED, {0, 0}};
	int rc;

	if (t->returning)
		return;
	t->returning = 1;
	enter(t);
	rc = gn__back_begins(&t->view, member);
	leave(t);
	if (rc && gn__replica_stale(&t->view) >> member & 1 && !t->failed)
		blame(t, "a stale member cannot be put back");
	for (uint64_t w = 0; w < gn__back_windows(&t->view, t->window_log2) && !rc; w++) {
		enter(t);
		gn__back_window(&b, w, &copy);
		leave(t);
		rc = copy.end != GN_BACK_COPIED;
	}
	gn__back_is_sound(&t->view, member);
	if (!rc)
		t->put_back += !gn__back_ends(&t->view, member);
	t->returning = 0;
}

SIMT_FN void do_step(struct trial *t, struct step s, uint64_t value)
{
	const uint64_t blocks = s.act == WRITE_TWO || (TIER && s.act == HOST) ? 2 : 1;
	uint64_t first = s.at % (t->blocks - blocks + 1);

	if (TIER && blocks == 2)
		first &= ~1ull; /* a line */
	if (s.act == BACK) {
		put_back(t, s.at % t->members);
		return;
	}
	if (!begin_use(t, first, blocks))
		return;
	if (s.act == READ)
		read_block(t, first, value & 1);
	else if (s.act == WORD)
		write_word(t, first, value);
	else if (s.act == HOST && !clean(t, first / 2, 1, 1)) {
		enter(t);
		write_by_host(t, first, value);
		leave(t);
	} else if (s.act != HOST)
		write_blocks(t, first, blocks, value);
	end_use(t, first, blocks);
}

/* A member that is read has the block; and of one that nobody knows what the others that are read have. */
SIMT_FN void check_block(struct trial *t, uint32_t member, uint32_t other, uint32_t block)
{
	const uint64_t *words = t->member[member] + block * WORDS;

	if (!t->unsure[block] && !is_content(t, block, words))
		blame(t, "a member that is read lacks a block");
	if (memcmp(words, t->member[other] + block * WORDS, WORDS * sizeof *words))
		blame(t, "two members that are read differ");
}

SIMT_FN void end_trial(struct trial *t)
{
	uint32_t stale;

	flush_at_the_end(t);
	stale = gn__replica_stale(&t->view);
	if (stale == gn__replica_all(&t->view))
		blame(t, "no member is left");
	if (gn__turn_back(t->health.turn) && !t->failed)
		blame(t, "a member is neither back nor out");
	for (uint32_t k = 0; k < t->members; k++)
		for (uint32_t p = 0; p < t->blocks && !(stale >> k & 1); p++)
			check_block(t, k, simt_first_lane(~stale), p);
}

SIMT_FN void replica_trial(const struct arguments *a)
{
	struct trial *t = a->t;
	const uint32_t me = simt_thread();

	for (uint32_t k = 0; k < t->steps; k++)
		do_step(t, t->script[me][k], ((uint64_t)me + 1) << 8 | (k + 1));
	if (simt_add_acq_rel_dev_u32(&t->finished, 1) + 1 == t->threads)
		end_trial(t);
}
SIMT_KERNEL(replica_trial, struct arguments)

/* ---- trials ---- */

static void draw_trial(uint64_t seed)
{
	static const uint8_t acts[] = {READ, WRITE, WRITE_TWO, WORD, WORD, HOST, BACK, BACK, BACK};
	struct trial *t = &the_trial;
	uint64_t s = seed;

	t->seed = seed;
	t->members = 2 + draw_below(&s, MOST_MEMBERS - 1);
	t->blocks = 2 + draw_below(&s, MOST_BLOCKS - 1);
	t->blocks &= TIER ? ~1u : ~0u;
	t->threads = 2 + draw_below(&s, MOST_THREADS - 1);
	t->steps = 1 + draw_below(&s, MOST_STEPS);
	for (uint32_t k = 0; k < MOST_THREADS * MOST_STEPS; k++) {
		struct step *step = &t->script[k / MOST_STEPS][k % MOST_STEPS];

		step->act = acts[draw_below(&s, sizeof acts)];
		step->at = (uint8_t)draw_below(&s, 12);
	}
	for (uint32_t k = 0; k < MOST_STEPS && seed % 2; k++) /* one thread does nothing else, in turn */
		t->script[0][k].act = BACK, t->script[0][k].at = (uint8_t)k;
	t->stale = draw_chance(&s, 70) ? 1u << draw_below(&s, t->members) : 0;
	t->weak = draw_chance(&s, 50) ? 1u << draw_below(&s, t->members) : (1u << t->members) - 1;
	t->fails_percent = draw_chance(&s, 30) ? 0 : 20;
	t->whole = draw_chance(&s, 30);
	t->window_log2 = BLOCK_LOG2 + draw_below(&s, 2);
}

/* A script in words: an act's letter, and a block or a member, for each thread in turn. */
static void take_script(const char *text, uint32_t threads, uint32_t steps)
{
	static const char letters[] = "rwWoBh";

	for (uint32_t k = 0; k < threads * steps; k++, text += 2) {
		struct step *step = &the_trial.script[k / steps][k % steps];

		step->act = (uint8_t)(strchr(letters, text[0]) - letters);
		step->at = (uint8_t)(text[1] - '0');
	}
}

static const char *pick(unsigned k, struct simt_exploration *bound)
{
	static const struct {
		const char *name;
		uint32_t threads, steps;
		const char *script;
		uint32_t members, blocks, stale, weak, fails;
		unsigned preemptions;
	} small[] = {
#if TIER
		{"a line leaves beside a member that comes back", 2, 2, "w0r2B1r0", 2, 4, 2, 0, 0, 3},
		{"two lines leave", 2, 2, "w0w2w3B1", 2, 4, 2, 0, 0, 3},
		{"two write the parts of a line, and it leaves", 3, 1, "o0w1B1", 2, 2, 2, 0, 0, 3},
		{"the host writes", 2, 2, "w0h0B1r2", 2, 4, 2, 0, 0, 3},
		{"the member fails again", 2, 2, "w0w2B1B1", 2, 4, 2, 2, 50, 3},
		{"the other fails", 2, 2, "w0r2B1B0", 2, 4, 2, 1, 50, 3},
#else
		{"a write beside a member that comes back", 2, 1, "w0B1", 2, 1, 2, 0, 0, 5},
		{"two writes of one block", 2, 2, "w0w0B1r0", 2, 1, 2, 0, 0, 4},
		{"a write of both blocks", 2, 1, "W0B0", 2, 2, 1, 0, 0, 4},
		{"two write two blocks", 3, 1, "w0o1B1", 2, 2, 2, 0, 0, 3},
		{"it comes back, and is read", 3, 1, "w0B1r0", 2, 1, 2, 0, 0, 3},
		{"the member fails again", 2, 2, "w0w0B1B1", 2, 1, 2, 2, 50, 4},
		{"two write a part", 2, 2, "o0o0B1r0", 2, 1, 2, 0, 0, 4},
		{"the host writes", 2, 2, "h0o0B1r0", 2, 1, 2, 0, 0, 4},
		{"the host finds that a member failed", 3, 1, "h0w0B1", 3, 1, 2, 5, 50, 3},
		{"the other fails", 2, 2, "w0r0B1B0", 2, 1, 2, 1, 50, 4},
		{"the other fails, and it comes back at the second try", 2, 2, "w0r0B1B1", 2, 1, 2, 1, 60, 4},
		{"a member fails and comes back", 2, 2, "w0w1B0B1", 3, 2, 0, 3, 50, 3},
#endif
	};

	if (k >= sizeof small / sizeof *small)
		return NULL;
	take_script(small[k].script, small[k].threads, small[k].steps);
	the_trial.threads = small[k].threads;
	the_trial.steps = small[k].steps;
	the_trial.members = small[k].members;
	the_trial.blocks = small[k].blocks;
	the_trial.stale = small[k].stale;
	the_trial.weak = small[k].weak;
	the_trial.fails_percent = small[k].fails;
	the_trial.whole = 0;
	the_trial.window_log2 = BLOCK_LOG2;
	the_trial.seed = k + 1;
	bound->preemptions = small[k].preemptions;
	bound->warp_width = 1;
	return small[k].name;
}

static struct simt_grid grid(void)
{
	const struct simt_grid one_block = {1, the_trial.threads, 0};

	return one_block;
}

static void reset_view(struct trial *t)
{
	memset(&t->view, 0, sizeof t->view);
	memset(&t->health, 0, sizeof t->health);
	t->health.turn = t->stale;
	t->health.region_log2 = BLOCK_LOG2;
	t->health.piece_log2 = t->health.window_log2 = (uint16_t)t->window_log2;
	t->health.written = &t->written;
	t->health.missed = &t->missed;
	t->view.kind = GN_STORE_QUEUES;
	t->view.block_bytes = 1 << BLOCK_LOG2;
	t->view.capacity_bytes = (uint64_t)t->blocks << BLOCK_LOG2;
	t->view.queue_count = 1;
	t->view.timeout_ns = 100000000000u; /* far beyond what any run needs */
	t->view.transfer_bytes = 4 << BLOCK_LOG2;
	t->view.queue = t->queue;
	t->view.members = t->members;
	t->view.health = &t->health;
	t->users = t->view;
}

/* The tier before it. */
static void reset_users(struct trial *t)
{
	(void)t;
#if TIER
	memset(&t->tier, 0, sizeof t->tier);
	memset(&t->counts, 0, sizeof t->counts);
	memset(t->fast, 0xdd, sizeof t->fast);
	t->word = t->set = 0;
	t->tier.slow = t->view;
	t->tier.fast = (char *)t->fast;
	t->tier.word = &t->word;
	t->tier.set = &t->set;
	t->tier.counts = &t->counts;
	t->tier.sets = 1;
	t->users.unit_log2 = t->tier.line_log2 = BLOCK_LOG2 + 1;
	t->users.transfer_bytes = 2 << BLOCK_LOG2;
	t->users.tier = &t->tier;
#endif
}

/* A stale member has the last block of several, and missed the others. */
static void reset(void *unused)
{
	struct trial *t = &the_trial;

	(void)unused;
	reset_view(t);
	reset_users(t);
	t->written = 0;
	t->missed = !t->stale ? 0 : t->blocks == 1 ? 1 : (1u << (t->blocks - 1)) - 1;
	for (uint32_t k = 0; k < t->members; k++)
		for (uint32_t w = 0; w < t->blocks * WORDS; w++)
			t->member[k][w] =
			    t->stale >> k & 1 && t->missed >> w / WORDS & 1 ? 0xdddd : content_of(0, w);
	memset(t->block, 0, sizeof t->block);
	memset(t->unsure, 0, sizeof t->unsure);
	memset(t->busy, 0, sizeof t->busy);
	t->random = t->seed;
	t->failed = 0;
	t->finished = t->returning = t->put_back = t->room = 0;
	t->wrong = NULL;
}

static int check(void *unused)
{
	(void)unused;
	return the_trial.wrong ? model_wrong("%s", the_trial.wrong) : 0;
}

int main(int argc, char **argv)
{
	static const struct model model = {TIER ? "tier_replica" : "replica",
	                                   &replica_trial_kernel,
	                                   &the_arguments,
	                                   draw_trial,
	                                   pick,
	                                   grid,
	                                   reset,
	                                   check,
	                                   NULL};

	return model_main(&model, argc, argv);
}
