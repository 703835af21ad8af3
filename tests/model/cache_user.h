/* SPDX-License-Identifier: Apache-2.0 */
/* cache_user.h - a thread that reads, writes, holds and flushes pages and checks what it sees. */
#ifndef GN_TESTS_CACHE_USER_H
#define GN_TESTS_CACHE_USER_H

#include "cache_trial.h"

struct user {
	struct trial *t;
	uint32_t id;
	struct gn_cursor cursor;
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

SIMT_FN uint32_t element_of(const struct trial *t, const struct step *s)
{
	return s->page * PAGE_WORDS + s->word % words_of(t, s->page);
}

SIMT_FN void read_one(struct user *u, uint32_t element, int by_cursor)
{
	struct trial *t = u->t;
	uint32_t floor = t->floor[element];
	uint64_t value = 0;
	int rc = by_cursor ? gn__cursor_read(&u->cursor, element, &value, sizeof value)
	                   : gn_array_read(&t->array, element, &value);

	if (!rc)
		check_value(t, element, floor, value);
	else
		check_failure(t, rc);
	if (rc && value)
		blame(t, "a read failed and returned data");
}

/* An element by the value form, half by half; 0 is no half of an element, so a failure shows. */
SIMT_FN void read_halves(struct user *u, uint32_t element)
{
	struct trial *t = u->t;
	uint32_t floor = t->floor[element];
	uint32_t low = gn_read_u32(&t->halves, 2 * (uint64_t)element);
	uint32_t high = gn_read_u32(&t->halves, 2 * (uint64_t)element + 1);

	if (low && high)
		check_value(t, element, floor, (uint64_t)high << 32 | low);
	else
		check_failure(t, t->failure.code);
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
SIMT_FN int owns(const struct user *u, uint32_t page)
{
	return u->id < words_of(u->t, page);
}

SIMT_FN void write_one(struct user *u, uint32_t page)
{
	struct trial *t = u->t;
	uint32_t element = page * PAGE_WORDS + u->id;
	uint64_t value;
	int rc;

	if (!owns(u, page)) {
		read_one(u, page * PAGE_WORDS, 0);
		return;
	}
	value = begin_write(t, element);
	rc = gn_array_write(&t->array, element, &value);
	if (rc)
		check_failure(t, rc);
	end_write(t, element, value, rc);
}

/* What a held page shows is what holds at this moment. */
SIMT_FN void check_page(struct trial *t, const struct gn_page *page)
{
	const uint64_t *data = (const uint64_t *)page->data;

	for (uint32_t k = 0; k < page->count; k++) {
		uint32_t element = (uint32_t)page->first + k;

		check_value(t, element, t->floor[element], data[k]);
	}
}

/* Returns 0 if the page is held. */
SIMT_FN int hold(struct user *u, uint32_t page, int write, struct gn_page *held)
{
	struct trial *t = u->t;
	int rc = gn_array_acquire(&t->array, 1u << simt_lane(), page * PAGE_WORDS, write, held);

	if (rc && rc != -GN_ENOBUFS)
		check_failure(t, rc);
	if (rc)
		return rc;
	if (held->first != page * PAGE_WORDS || held->count != words_of(t, page))
		blame(t, "a page reference has the wrong extent");
	t->held[((const char *)held->hold.data - (const char *)t->frame) >> PAGE_LOG2]++;
	check_page(t, held);
	return 0;
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
	uint32_t element = page * PAGE_WORDS + u->id;
	uint64_t value;

	if (!owns(u, page))
		return;
	value = begin_write(u->t, element);
	((uint64_t *)held->data)[u->id] = value;
	end_write(u->t, element, value, 0);
}

/* Hold a page and miss another meanwhile. */
SIMT_FN void hold_one(struct user *u, const struct step *s)
{
	struct gn_page held;
	int write = s->op == OP_HOLD_WRITE;

	if (hold(u, s->page, write, &held))
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

	if (hold(u, s->page, 0, &first))
		return;
	if (!hold(u, s->other, 1, &second)) {
		write_held(u, s->other, &second);
		let_go(u, &second);
	}
	let_go(u, &first);
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
	case OP_READ: read_one(u, element_of(u->t, s), 0); break;
	case OP_WRITE: write_one(u, s->page); break;
	case OP_CURSOR: read_one(u, element_of(u->t, s), 1); break;
	case OP_HALVES: read_halves(u, element_of(u->t, s)); break;
	case OP_HOLD:
	case OP_HOLD_WRITE: hold_one(u, s); break;
	case OP_HOLD_TWO: hold_two(u, s); break;
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
	u.cursor = gn_cursor_init(&t->array);
	for (uint32_t k = 0; k < t->steps[id]; k++)
		take_step(&u, &t->step[id][k]);
	gn_cursor_end(&u.cursor);
	if (simt_add_acq_rel_dev_u32(&t->finished, 1) + 1 == t->threads)
		tidy(&u);
}

#endif
