/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_user.h - a thread that reads, writes, counts, holds, overwrites and flushes, and checks what it sees.
 */
#ifndef GN_TESTS_CACHE_USER_H
#define GN_TESTS_CACHE_USER_H

#include "cache_trial.h"

struct user {
	struct trial *t;
	uint32_t id;
	struct gn_cursor cursor;
	struct gn__recent recent;
};

/* A read that began at this floor returned value. */
SIMT_FN void check_value(struct trial *t, uint32_t element, uint32_t floor, uint64_t value)
{
	uint32_t number = (uint32_t)value;

	if (value >> 32 != element + 1)
		blame(t, "a read returned another page's data");
	else if (number > t->last[element] || t->number[element][number] == REFUSED)
		blame(t, "a read returned what was never written");
	else if (number < floor)
		blame(t, "a read returned old data");
	else if (number > t->floor[element])
		t->floor[element] = number;
}

/* What was known when a read began. */
struct reading {
	uint32_t element, floor;
	uint32_t overwrites; /* of the page, if none was going on; else nobody knows what it shows */
	int known;
};

SIMT_FN struct reading begin_read(const struct trial *t, uint32_t element)
{
	const uint32_t page = element / PAGE_WORDS;
	struct reading r = {element, t->floor[element], t->overwrites[page], !t->overwriting[page]};

	return r;
}

SIMT_FN void end_read(struct trial *t, const struct reading *r, uint64_t value)
{
	if (r->known && t->overwrites[r->element / PAGE_WORDS] == r->overwrites)
		check_value(t, r->element, r->floor, value);
}

SIMT_FN int may_fail(const struct trial *t)
{
	return t->failed[FETCH] || t->failed[LOAD] || t->failed[SAVE];
}

/* Scalar accesses fail only because the store did, or because the trial's threads have little patience. */
SIMT_FN void check_failure(struct trial *t, int rc)
{
	t->errors++;
	if (rc == -GN_ETIMEDOUT ? t->cache.wait_ns == FOREVER_NS : rc != -GN_EIO || !may_fail(t))
		blame(t, rc == -GN_ETIMEDOUT ? "a thread waits for ever" : "an access failed for no reason");
}

/*
 * Why an access by value failed: the array keeps the first failure only, which may be that of a hold of
 * another thread, for a write-back that failed.
 */
SIMT_FN int code_kept(const struct trial *t)
{
	return t->failed[PUT] && t->cache.wait_ns != FOREVER_NS ? -GN_ETIMEDOUT : t->failure.code;
}

SIMT_FN uint32_t element_of(const struct trial *t, const struct step *s)
{
	return s->page * PAGE_WORDS + s->word % words_of(t, s->page);
}

/* Every second thread has what a view remembers for a cursor. */
SIMT_FN int read_by(struct user *u, uint32_t element, uint8_t op, uint64_t *value)
{
	const struct gn_array *a = &u->t->array;

	if (op == OP_RECENT || (op == OP_CURSOR && u->id & 1))
		return gn__recent_read(a, &u->recent, element, value, sizeof *value);
	if (op != OP_CURSOR)
		return gn_array_read(a, element, value);
	return element & 1 ? gn__cursor_read_every(&u->cursor, element, 1, 1, value, sizeof *value)
	                   : gn__cursor_read(&u->cursor, element, value, sizeof *value);
}

SIMT_FN void read_one(struct user *u, uint32_t element, uint8_t op)
{
	struct trial *t = u->t;
	const struct reading reading = begin_read(t, element);
	uint64_t value = 0;
	const int rc = read_by(u, element, op, &value);

	if (!rc)
		end_read(t, &reading, value);
	else
		check_failure(t, rc);
	if (rc && value)
		blame(t, "a read failed and returned data");
}

/* An element by the value form, half by half; 0 is no half of an element, so a failure shows. */
SIMT_FN void read_halves(struct user *u, uint32_t element)
{
	struct trial *t = u->t;
	const struct reading reading = begin_read(t, element);
	uint32_t low = gn_read_u32(&t->halves, 2 * (uint64_t)element);
	uint32_t high = gn_read_u32(&t->halves, 2 * (uint64_t)element + 1);

	if (low && high)
		end_read(t, &reading, (uint64_t)high << 32 | low);
	else
		check_failure(t, code_kept(t));
}

/*
 * The row of two words with this element, as a lane of gn__gather_few that is a group of its own. Every
 * second thread brings in no page. 0 is no element, so a failure shows.
 */
SIMT_FN void gather_row(struct user *u, uint32_t element)
{
	struct trial *t = u->t;
	const uint64_t row = element / 2;
	uint64_t value[2] = {0, 0};
	const struct gn_batch batch = {&row, value, 1, 2, 0};
	const struct reading reading[2] = {begin_read(t, element & ~1u), begin_read(t, element | 1)};
	enum gn__few_turn turn = u->id & 1 ? GN__FEW_LEAVES : GN__FEW_BRINGS;
	struct gn__job job;

	gn__few_fill(&job, &t->array, &batch, 1);
	gn__few_row(&job, 0, row, &turn, sizeof *value);
	for (uint32_t k = 0; k < 2; k++) {
		if (value[k])
			end_read(t, &reading[k], value[k]);
		else
			check_failure(t, code_kept(t));
	}
}

SIMT_FN void gather_one(struct user *u, uint32_t element)
{
	if (u->t->array.pages.backing && (element | 1) < u->t->array.count)
		gather_row(u, element);
	else
		read_one(u, element, OP_READ);
}

SIMT_FN uint64_t begin_write(struct trial *t, uint32_t element)
{
	uint32_t number = ++t->last[element];

	t->number[element][number] = BEGUN;
	return trial_value(element, number);
}

SIMT_FN void end_write(struct trial *t, uint32_t element, uint64_t value, int rc)
{
	uint32_t number = (uint32_t)value;

	t->number[element][number] = rc ? REFUSED : WRITTEN;
	if (!rc && number > t->floor[element])
		t->floor[element] = number;
	if (rc && t->floor[element] >= number)
		blame(t, "a write failed that somebody has seen");
}

/* A thread's own word of a page; there may be none in the last page. */
SIMT_FN uint32_t own_word(const struct user *u)
{
	return u->id - u->t->readers + u->t->counts;
}

SIMT_FN int owns(const struct user *u, uint32_t page)
{
	const uint32_t whose = u->t->whole[page];

	return u->id >= u->t->readers && (whose == SHARED || whose == u->id) &&
	       own_word(u) < words_of(u->t, page);
}

/* Write a thread's own word, or half of it: the other half never changes. */
SIMT_FN void write_one(struct user *u, uint32_t page, int low_only)
{
	struct trial *t = u->t;
	uint32_t element = page * PAGE_WORDS + own_word(u);
	uint64_t value;
	int rc;

	if (!owns(u, page)) {
		read_one(u, page * PAGE_WORDS, 0);
		return;
	}
	value = begin_write(t, element);
	rc = low_only ? gn_write_u32(&t->halves, 2 * (uint64_t)element, (uint32_t)value)
	              : gn_array_write(&t->array, element, &value);
	if (rc)
		check_failure(t, rc);
	end_write(t, element, value, rc);
}

/* ---- counting ---- */

/* Somebody's step from this number to the next, which nobody else has made. */
SIMT_FN void counted(struct trial *t, uint32_t element, uint32_t floor, uint64_t old)
{
	uint32_t number = (uint32_t)old + 1;

	check_value(t, element, floor, old);
	if (number >= MOST_NUMBERS || t->number[element][number] == WRITTEN) {
		blame(t, "two threads counted one number");
		return;
	}
	t->number[element][number] = WRITTEN;
	if (number > t->floor[element])
		t->floor[element] = number;
}

/* Nothing changed: it failed if old is 0, else old is what the element was. */
SIMT_FN void not_counted(struct trial *t, uint32_t element, uint32_t floor, uint64_t old)
{
	t->last[element]--;
	if (old)
		check_value(t, element, floor, old);
	else
		check_failure(t, code_kept(t));
}

/* Of four or eight bytes: the numbers are in the low half. */
SIMT_FN void add_one(struct user *u, uint32_t element, int narrow)
{
	struct trial *t = u->t;
	const uint32_t floor = t->floor[element];
	uint64_t old;

	t->last[element]++;
	old = narrow ? gn_add_u32(&t->halves, 2 * (uint64_t)element, 1) : gn_add_u64(&t->array, element, 1);
	if (narrow && old)
		old = trial_value(element, (uint32_t)old);
	if (old)
		counted(t, element, floor, old);
	else
		not_counted(t, element, floor, 0);
}

/*
 * From the number that a step which changes nothing told, or from the one after it, which others may count
 * meanwhile.
 */
SIMT_FN void cas_one(struct user *u, uint32_t element, uint32_t further)
{
	struct trial *t = u->t;
	uint32_t floor = t->floor[element];
	uint64_t expected = gn_max_u64(&t->array, element, 1), old;

	if (!expected) {
		check_failure(t, code_kept(t));
		return;
	}
	check_value(t, element, floor, expected);
	expected += further;
	floor = t->floor[element];
	t->last[element]++;
	old = gn_cas_u64(&t->array, element, expected, expected + 1);
	if (old == expected)
		counted(t, element, floor, old);
	else
		not_counted(t, element, floor, old);
}

SIMT_FN void count_one(struct user *u, const struct step *s)
{
	const uint32_t element = s->page * PAGE_WORDS;

	if (!u->t->counts || u->t->whole[s->page] != SHARED)
		read_one(u, element, 0);
	else if (s->op == OP_CAS)
		cas_one(u, element, s->word & 1);
	else
		add_one(u, element, s->word & 1);
}

/* ---- holding ---- */

/* What a held page shows is what holds at this moment. */
SIMT_FN void check_page(struct trial *t, const struct gn_page *page)
{
	const uint64_t *data = (const uint64_t *)page->data;

	for (uint32_t k = 0; k < page->count; k++) {
		const struct reading reading = begin_read(t, (uint32_t)page->first + k);

		end_read(t, &reading, data[k]);
	}
}

/* The page is held if rc is 0. Returns rc. */
SIMT_FN int holds(struct user *u, uint32_t page, int rc, struct gn_page *held)
{
	struct trial *t = u->t;

	if (rc == -GN_EIO && t->failed[PUT]) { /* pages that could not be written keep their frames */
		t->errors++;
		t->kept_out = 1;
	} else if (rc && rc != -GN_ENOBUFS) {
		check_failure(t, rc);
	}
	if (rc)
		return rc;
	if (held->first != page * PAGE_WORDS || held->count != words_of(t, page))
		blame(t, "a page reference has the wrong extent");
	t->held[((const char *)held->hold.data - (const char *)t->frame) >> PAGE_LOG2]++;
	check_page(t, held);
	return 0;
}

/* Returns 0 if the page is held. */
SIMT_FN int hold(struct user *u, uint32_t page, uint32_t intent, struct gn_page *held)
{
	return holds(u, page,
	             gn_array_acquire(&u->t->array, 1u << simt_lane(), page * PAGE_WORDS, intent, held),
	             held);
}

SIMT_FN void let_go(struct user *u, const struct gn_page *held)
{
	struct trial *t = u->t;

	check_page(t, held);
	t->held[((const char *)held->hold.data - (const char *)t->frame) >> PAGE_LOG2]--;
	gn_array_release(&t->array, 1u << simt_lane(), held);
}

SIMT_FN void write_held(struct user *u, uint32_t page, const struct gn_page *held)
{
	uint32_t element = page * PAGE_WORDS + own_word(u);
	uint64_t value;

	if (!owns(u, page))
		return;
	value = begin_write(u->t, element);
	((uint64_t *)held->data)[own_word(u)] = value;
	end_write(u->t, element, value, 0);
}

/* Hold a page and miss another meanwhile. */
SIMT_FN void hold_one(struct user *u, const struct step *s)
{
	struct gn_page held;
	int write = s->op == OP_HOLD_WRITE;

	if (hold(u, s->page, write ? GN_WRITE : GN_READ, &held))
		return;
	if (write)
		write_held(u, s->page, &held);
	read_one(u, s->other * PAGE_WORDS, 0);
	if (write)
		write_held(u, s->page, &held);
	let_go(u, &held);
}

/* Hold two: whoever has one and wants another is where caches deadlock. */
SIMT_FN void hold_two(struct user *u, const struct step *s)
{
	struct gn_page first, second;

	if (hold(u, s->page, GN_READ, &first))
		return;
	if (!hold(u, s->other, GN_WRITE, &second)) {
		write_held(u, s->other, &second);
		let_go(u, &second);
	}
	let_go(u, &first);
}

/* ---- pages that are begun ---- */

/* Returns 1 if there is a ticket. */
SIMT_FN int begin(struct user *u, uint32_t page, uint32_t intent, struct gn_page_ticket *ticket)
{
	const int rc = gn_page_begin(&u->t->array, 1u << simt_lane(), page * PAGE_WORDS, intent, ticket);

	if (rc)
		holds(u, page, rc, &ticket->page);
	return !rc;
}

SIMT_FN void end_begun(struct user *u, uint32_t page, int rc, struct gn_page *held)
{
	if (holds(u, page, rc, held))
		return;
	write_held(u, page, held);
	let_go(u, held);
}

/* Ask for the pages of tickets in turn until all have ended. */
SIMT_FN void ask(struct user *u, const uint32_t *page, int *begun, struct gn_page_ticket *ticket)
{
	struct gn_page held;
	int rc;

	while (begun[0] || begun[1]) {
		for (uint32_t k = 0; k < 2; k++) {
			if (!begun[k])
				continue;
			rc = gn_page_ready(&u->t->array, 1u << simt_lane(), &ticket[k], &held);
			begun[k] = rc == -GN_EAGAIN;
			if (!begun[k])
				end_begun(u, page[k], rc, &held);
		}
		let_others(u->t);
		simt_relax();
	}
}

/* A page that is nobody's as a whole, or the thread's, is begun to be written. */
SIMT_FN void begin_pages(struct user *u, const struct step *s)
{
	const uint32_t page[2] = {s->page, s->other};
	struct gn_page_ticket ticket[2];
	int begun[2] = {begin(u, page[0], GN_WRITE, &ticket[0]), 0};

	if (s->op == OP_BEGIN_TWO)
		begun[1] = begin(u, page[1], GN_WRITE, &ticket[1]);
	else
		read_one(u, s->other * PAGE_WORDS, 0);
	if (s->op != OP_CANCEL)
		ask(u, page, begun, ticket);
	else if (begun[0])
		gn_page_cancel(&u->t->array, 1u << simt_lane(), &ticket[0]);
}

/* ---- overwriting and flushing ---- */

SIMT_FN void overwrite_words(struct trial *t, uint32_t page, const struct gn_page *held)
{
	for (uint32_t k = 0; k < PAGE_WORDS; k++) {
		uint64_t value = begin_write(t, page * PAGE_WORDS + k);

		((uint64_t *)held->data)[k] = value;
		end_write(t, page * PAGE_WORDS + k, value, 0);
		let_others(t);
	}
}

/* Overwrite a page of one's own, as a whole. */
SIMT_FN void overwrite_one(struct user *u, uint32_t page)
{
	struct trial *t = u->t;
	struct gn_page held;
	int rc;

	if (t->whole[page] != u->id || words_of(t, page) != PAGE_WORDS) {
		read_one(u, page * PAGE_WORDS, 0);
		return;
	}
	t->overwriting[page]++;
	t->overwrites[page]++;
	rc = hold(u, page, GN_OVERWRITE, &held);
	if (!rc)
		overwrite_words(t, page, &held);
	t->overwriting[page]--;
	if (!rc)
		let_go(u, &held);
}

SIMT_FN void flush_one(struct trial *t, uint32_t frame)
{
	int rc = gn_cache_flush_frame(&t->cache, 1u << simt_lane(), 1, frame % t->cache.frames).code;

	if (rc && !(rc == -GN_ETIMEDOUT && t->cache.wait_ns != FOREVER_NS) &&
	    !(rc == -GN_EIO && t->failed[PUT]))
		blame(t, "a flush failed for no reason");
}

SIMT_FN void take_step(struct user *u, const struct step *s)
{
	switch (s->op) {
	case OP_READ:
	case OP_CURSOR:
	case OP_RECENT: read_one(u, element_of(u->t, s), s->op); break;
	case OP_WRITE:
	case OP_LOW: write_one(u, s->page, s->op == OP_LOW); break;
	case OP_ADD:
	case OP_CAS: count_one(u, s); break;
	case OP_PREFETCH: gn_array_prefetch_each(&u->t->array, simt_active(), 1, element_of(u->t, s)); break;
	case OP_HALVES: read_halves(u, element_of(u->t, s)); break;
	case OP_HOLD:
	case OP_HOLD_WRITE: hold_one(u, s); break;
	case OP_HOLD_TWO: hold_two(u, s); break;
	case OP_OVERWRITE: overwrite_one(u, s->page); break;
	case OP_BEGIN:
	case OP_BEGIN_TWO:
	case OP_CANCEL: begin_pages(u, s); break;
	case OP_FEW: gather_one(u, element_of(u->t, s)); break;
	default: flush_one(u->t, s->page);
	}
}

/* The last thread: with a store that works, everything is readable, and after a flush nothing is dirty. */
SIMT_FN void tidy(struct user *u)
{
	struct trial *t = u->t;

	memset(t->fault, 0, sizeof t->fault);
	t->cache.wait_ns = FOREVER_NS;
	for (uint32_t page = 0; page < t->cache.pages; page++)
		for (uint32_t word = 0; word < words_of(t, page); word++)
			read_one(u, page * PAGE_WORDS + word, 0);
	for (uint32_t frame = 0; frame < t->cache.frames; frame++)
		if (gn_cache_flush_frame(&t->cache, 1u << simt_lane(), 1, frame).code)
			blame(t, "the last flush failed");
}

SIMT_FN void use(struct trial *t, uint32_t id)
{
	struct user u;

	u.t = t;
	u.id = id;
	if (t->announces > 1 && simt_warp_width() == 1)
		simt__self->processor = id % PROCESSORS;
	u.cursor = gn_cursor_init(&t->array);
	gn__recent_forget(&u.recent);
	for (uint32_t k = 0; k < t->steps[id]; k++)
		take_step(&u, &t->step[id][k]);
	gn_cursor_end(&u.cursor);
	if (simt_add_acq_rel_dev_u32(&t->finished, 1) + 1 == t->threads)
		tidy(&u);
}

#endif
