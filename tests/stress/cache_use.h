/* SPDX-License-Identifier: Apache-2.0 */
/* cache_use.h - what a thread of the cache's stress does: every access there is, drawn by chance. */
#ifndef GN_TESTS_CACHE_USE_H
#define GN_TESTS_CACHE_USE_H

#include "cache_fixture.h"

enum { MOST_HELD = 3 };

SIMT_FN uint64_t draw_constant(const struct fixture_view *b, uint64_t *random)
{
	const uint64_t k = draw(random) % (b->words.count / 2) * 2;

	return fixture_is_count(k) ? k + 2 : k;
}

/* A word of this thread's own. */
SIMT_FN uint64_t draw_own(const struct fixture_view *b, uint64_t *random)
{
	uint64_t owners = b->owners ? b->owners : simt_global_threads();
	uint64_t self = b->first_owner + simt_global_thread();

	return (self + draw(random) % (b->words.count / 2 / owners) * owners) * 2 + 1;
}

SIMT_FN void check_word(const struct fixture_view *b, uint64_t k, uint64_t value)
{
	if (fixture_is_count(k) ? value - fixture_word(k, 0) > 0xffffffffu
	                        : value != fixture_word(k, k & 1 ? b->written[k] : 0))
		fixture_fault(b, k & 1 ? LOST_WRITE : FOREIGN_DATA);
}

SIMT_FN void read_word(const struct fixture_view *b, uint64_t k)
{
	uint64_t value = 0;

	if (gn_array_read(&b->words, k, &value))
		fixture_fault(b, FAILED_ACCESS);
	else
		check_word(b, k, value);
}

SIMT_FN void write_word(const struct fixture_view *b, uint64_t k)
{
	if (gn_write_u64(&b->words, k, fixture_word(k, b->written[k] + 1)))
		fixture_fault(b, FAILED_ACCESS);
	else
		b->written[k]++;
}

/* A word read as elements of 1, 2 or 4 bytes. */
SIMT_FN void read_parts(const struct fixture_view *b, uint64_t k, uint32_t log2)
{
	const struct gn_array *part = &b->part[log2];
	const uint32_t parts = 8u >> log2;
	uint64_t value = 0;

	for (uint32_t n = 0; n < parts; n++) {
		uint64_t i = k * parts + n;
		uint64_t one = log2 == 0   ? gn_read_u8(part, i)
		               : log2 == 1 ? gn_read_u16(part, i)
		                           : gn_read_u32(part, i);

		value |= one << (n * (8u << log2));
	}
	check_word(b, k, value);
}

/* A word of this thread's own, written in such parts. */
SIMT_FN void write_parts(const struct fixture_view *b, uint64_t k, uint32_t log2)
{
	const struct gn_array *part = &b->part[log2];
	const uint64_t value = fixture_word(k, b->written[k] + 1);
	const uint32_t parts = 8u >> log2;

	for (uint32_t n = 0; n < parts; n++) {
		uint64_t i = k * parts + n, one = value >> (n * (8u << log2));
		int rc = log2 == 0   ? gn_write_u8(part, i, (uint8_t)one)
		         : log2 == 1 ? gn_write_u16(part, i, (uint16_t)one)
		                     : gn_write_u32(part, i, (uint32_t)one);

		if (rc)
			fixture_fault(b, FAILED_ACCESS);
	}
	b->written[k]++;
}

/* A run of constants, over a page border now and then: some of them at once, then one by one. */
SIMT_FN void read_run(const struct fixture_view *b, struct gn_cursor *c, uint64_t *random)
{
	uint64_t k = draw_constant(b, random), some[4];

	for (; draw_chance(random, 70) && k + 6 < b->words.count; k += 8) {
		if (gn_cursor_read_every_u64(c, k, 2, 4, some))
			fixture_fault(b, FAILED_ACCESS);
		for (uint32_t n = 0; n < 4; n++)
			check_word(b, k + 2 * n, some[n]);
	}
	for (uint32_t n = 0; n < 20 && k < b->words.count; n++, k += 2)
		check_word(b, k, gn_cursor_read_u64(c, k));
}

/* What a held page shows: the constants, or one in so many. */
SIMT_FN void check_page(const struct fixture_view *b, const struct gn_page *page, uint64_t k)
{
	const uint64_t *data = (const uint64_t *)page->data;

	if (k < page->first || k >= page->first + page->count || page->count != fixture_page_words(b))
		fixture_fault(b, BAD_REFERENCE);
	for (uint64_t n = page->first & 1; n < page->count; n += 2 + page->count / 16 * 2)
		if (!fixture_is_count(page->first + n) && data[n] != fixture_word(page->first + n, 0))
			fixture_fault(b, FOREIGN_DATA);
}

/* Readers that looked before the page came may still look here: an indivisible store keeps sanitizers
 * content. */
SIMT_FN void write_held(const struct fixture_view *b, const struct gn_page *page, uint64_t k)
{
	uint64_t *data = (uint64_t *)page->data + (k - page->first);

	if (simt_load_relaxed_dev_u64(data) != fixture_word(k, b->written[k]))
		fixture_fault(b, LOST_WRITE);
	simt_store_relaxed_dev_u64(data, fixture_word(k, ++b->written[k]));
}

/* Hold up to so many pages, the last for writing, and miss another meanwhile. No frame is no fault. */
SIMT_FN void hold_pages(const struct fixture_view *b, uint32_t many, uint64_t *random)
{
	const uint32_t self = 1u << simt_lane();
	struct gn_page page[MOST_HELD];
	uint64_t k[MOST_HELD];
	uint32_t held = 0;

	while (held < many) {
		int write = held + 1 == many, rc;

		k[held] = write ? draw_own(b, random) : draw_constant(b, random);
		rc = gn_array_acquire(&b->words, self, k[held], write, &page[held]);
		if (rc == -GN_ENOBUFS)
			simt_add_relaxed_dev_u32(b->refused, 1);
		else if (rc)
			fixture_fault(b, FAILED_ACCESS);
		if (rc)
			break;
		check_page(b, &page[held], k[held]);
		if (write)
			write_held(b, &page[held], k[held]);
		held++;
	}
	read_word(b, draw_constant(b, random));
	write_word(b, draw_own(b, random));
	while (held) {
		held--;
		check_page(b, &page[held], k[held]);
		gn_array_release(&b->words, self, &page[held]);
	}
}

/* All lanes of a warp look at one page together. */
SIMT_FN void hold_as_warp(const struct fixture_view *b, uint32_t step)
{
	const uint32_t width = simt_warp_width(), all = width == 32 ? 0xffffffffu : (1u << width) - 1;
	uint64_t random = draw_mix(b->seed + simt_global_thread() / width * 4099 + step);
	uint64_t k = draw_constant(b, &random);
	struct gn_page page;
	int rc = gn_array_acquire(&b->words, all, k, 0, &page);

	if (rc == -GN_ENOBUFS)
		return;
	if (rc) {
		fixture_fault(b, FAILED_ACCESS);
		return;
	}
	check_page(b, &page, k);
	gn_array_release(&b->words, all, &page);
}

/* ---- changes as one step ---- */

/* Counts go up, and a thread sees its own step. */
SIMT_FN void add_to_count(const struct fixture_view *b, uint64_t *random)
{
	const uint64_t k = draw(random) % (b->words.count / 64) * 64, base = fixture_word(k, 0);
	const uint64_t old = gn_add_u64(&b->words, k, 1);
	uint64_t later;

	simt_add_relaxed_dev_u32(&b->written[k], 1);
	if (old - base > 0xffffffffu)
		fixture_fault(b, FOREIGN_DATA);
	if (draw_chance(random, 75))
		return;
	later = gn_max_u64(&b->words, k, 0);
	if (later - base <= old - base)
		fixture_fault(b, LOST_WRITE);
	/* as if it had been added to: whoever swaps it counts on */
	if (gn_cas_u64(&b->words, k, later, later + 1) == later)
		simt_add_relaxed_dev_u32(&b->written[k], 1);
}

/* ---- pages as wholes ---- */

/* Overwrite the thread's own page, if it has one; no frame is no fault. */
SIMT_FN void overwrite_own(const struct fixture_view *b)
{
	const uint32_t self = 1u << simt_lane();
	const uint64_t id = b->first_owner + simt_global_thread(), first = id * fixture_page_words(b);
	struct gn_page page;
	int rc;

	if (id >= b->own_pages)
		return;
	rc = gn_array_acquire(&b->own, self, first, GN_OVERWRITE, &page);
	if (rc) {
		if (rc != -GN_ENOBUFS)
			fixture_fault(b, FAILED_ACCESS);
		return;
	}
	b->overwritten[id]++;
	for (uint64_t k = 0; k < page.count; k++) /* indivisible, as in write_held */
		simt_store_relaxed_dev_u64((uint64_t *)page.data + k,
		                           fixture_word(b->words.count + first + k, b->overwritten[id]));
	gn_array_release(&b->own, self, &page);
}

/* One word of it, and the last. */
SIMT_FN void read_own_page(const struct fixture_view *b, uint64_t *random)
{
	const uint64_t id = b->first_owner + simt_global_thread(), words = fixture_page_words(b);
	const uint64_t k = id * words + draw(random) % words;

	if (id < b->own_pages &&
	    gn_read_u64(&b->own, k) != fixture_word(b->words.count + k, b->overwritten[id]))
		fixture_fault(b, LOST_WRITE);
}

/* ---- hints, and flushes beside everything else ---- */

SIMT_FN void prefetch_some(const struct fixture_view *b, uint64_t *random)
{
	const uint64_t k = draw_constant(b, random);

	if (k & 2)
		gn_array_prefetch_each(&b->words, simt_active(), (int)(k >> 2 & 1), k);
	else
		gn_array_prefetch(&b->words, 1u << simt_lane(), k, 2 * fixture_page_words(b));
}

SIMT_FN void flush_some(const struct fixture_view *b, uint64_t *random)
{
	const uint32_t frame = draw_below(random, b->words.pages.cache->frames);

	if (gn_cache_flush_frame(b->words.pages.cache, simt_active(), 1, frame).code)
		fixture_fault(b, FAILED_ACCESS);
}

SIMT_FN void use_cache(const struct fixture_view *b)
{
	uint64_t random = draw_mix(b->seed + simt_global_thread() + 1);
	struct gn_cursor c = gn_cursor_init(&b->words);

	for (uint32_t step = 0; step < b->steps; step++) {
		uint32_t choice = draw_below(&random, 16);

		stress_doing(b->doing, step, choice);
		if (choice == 14)
			read_parts(b, draw_constant(b, &random), draw_below(&random, 3));
		else if (choice == 15)
			write_parts(b, draw_own(b, &random), draw_below(&random, 3));
		else if (choice < 2)
			read_word(b, draw_constant(b, &random));
		else if (choice < 3)
			read_word(b, draw_own(b, &random));
		else if (choice < 5)
			write_word(b, draw_own(b, &random));
		else if (choice < 8)
			add_to_count(b, &random);
		else if (choice < 9)
			prefetch_some(b, &random);
		else if (choice < 10)
			overwrite_own(b);
		else if (choice < 11)
			read_own_page(b, &random);
		else if (choice < 12 && step % 4 == 0)
			flush_some(b, &random);
		else if (choice < 13 || !b->most_held)
			read_run(b, &c, &random);
		else
			hold_pages(b, 1 + draw_below(&random, b->most_held), &random);
		stress_doing(b->doing, step, 16);
		if (step % 4 == 3)
			hold_as_warp(b, step);
	}
	gn_cursor_end(&c);
	if (b->doing)
		simt_store_relaxed_sys_u32(&b->doing[simt_global_thread()], (uint32_t)STRESS_DONE);
}

#endif
