/* SPDX-License-Identifier: Apache-2.0 */
/* auto_model.c - runs the touches of a sample through an LRU cache whose pages are fetched by sectors. */
#include <stdlib.h>
#include <string.h>

#include <array/auto.h>

enum { NONE = -1 };

/* A page in the modelled cache. */
struct slot {
	uint64_t page;
	uint64_t used;         /* number of the touch that used it last */
	int next;              /* in the same bucket */
	uint32_t valid, dirty; /* sectors; those past the end of the page count as valid */
};

/* The least recently used page is the page of the oldest touch that is its page's last touch. */
struct lru {
	struct slot *slot;
	int *bucket;
	int *of_touch; /* the slot that each touch used, or NONE */
	uint32_t bucket_mask;
	uint64_t capacity, used;
	uint64_t now, oldest; /* touches: the current one; no touch before oldest is its page's last */
};

static int *bucket_of(const struct lru *c, uint64_t page)
{
	return &c->bucket[(uint32_t)(page * 0x9e3779b97f4a7c15ull >> 40) & c->bucket_mask];
}

static int lru_init(struct lru *c, uint64_t capacity, uint64_t touches)
{
	uint64_t buckets = 64;

	memset(c, 0, sizeof *c);
	c->capacity = capacity < 1 ? 1 : capacity < touches ? capacity : touches + 1;
	while (buckets < 2 * c->capacity)
		buckets *= 2;
	c->slot = (struct slot *)malloc(c->capacity * sizeof *c->slot);
	c->bucket = (int *)malloc(buckets * sizeof *c->bucket);
	c->of_touch = (int *)malloc((touches + 1) * sizeof *c->of_touch);
	if (!c->slot || !c->bucket || !c->of_touch)
		return -GN_ENOMEM;
	memset(c->bucket, 0xff, buckets * sizeof *c->bucket); /* NONE */
	c->bucket_mask = (uint32_t)(buckets - 1);
	return 0;
}

static void lru_free(struct lru *c)
{
	free(c->slot);
	free(c->bucket);
	free(c->of_touch);
}

static int find(const struct lru *c, uint64_t page)
{
	int k = *bucket_of(c, page);

	while (k != NONE && c->slot[k].page != page)
		k = c->slot[k].next;
	return k;
}

/* Evict the least recently used page. Returns its slot. */
static int evict(struct lru *c)
{
	int k, *at;

	do {
		k = c->of_touch[c->oldest++];
	} while (k == NONE || c->slot[k].used != c->oldest - 1);
	for (at = bucket_of(c, c->slot[k].page); *at != k;)
		at = &c->slot[*at].next;
	*at = c->slot[k].next;
	return k;
}

/* Take a slot for an absent page, with all its sectors absent. */
static int take(struct lru *c, uint64_t page, uint32_t sectors)
{
	const int k = c->used < c->capacity ? (int)c->used++ : evict(c);
	int *bucket = bucket_of(c, page);

	c->slot[k].page = page;
	c->slot[k].dirty = 0;
	c->slot[k].valid = ~sectors;
	c->slot[k].next = *bucket;
	*bucket = k;
	return k;
}

/* Fetch a sector; as in the cache, more than one if the page is read in order. */
static void fetch(struct slot *s, uint32_t sector, int write, struct gn_auto_moved *out)
{
	const uint32_t brought = write ? sector : gn__claim_widened(s->valid, sector);

	out->fetches++;
	out->sectors += (uint64_t)__builtin_popcount(brought);
	s->valid |= brought;
}

static void touch_sector(const struct gn_auto_model *m, struct slot *s, uint64_t touch,
                         struct gn_auto_moved *out)
{
	const uint64_t line = touch >> GN__TOUCH_LINE_SHIFT;
	const uint32_t in_page = (uint32_t)(line & ((1u << (m->page_log2 - GN__SAMPLE_LINE_LOG2)) - 1));
	const uint32_t sector = 1u << (in_page >> (m->sector_log2 - GN__SAMPLE_LINE_LOG2));
	const int write = (touch & GN__TOUCH_WRITE) != 0;
	const int covers = write && (touch & GN__TOUCH_ELEMENTS) + 1 >= m->covering;

	if (s->valid & sector)
		out->hits++;
	else if (!covers)
		fetch(s, sector, write, out);
	s->valid |= sector;
	if (write && !(s->dirty & sector)) {
		out->page_dirtied += !s->dirty;
		out->dirtied++;
		s->dirty |= sector;
	}
}

static void use(struct lru *c, const struct gn_auto_model *m, uint64_t touch, struct gn_auto_moved *out)
{
	const uint32_t sectors = (2u << ((1u << (m->page_log2 - m->sector_log2)) - 1)) - 1;
	const uint64_t page = touch >> GN__TOUCH_LINE_SHIFT >> (m->page_log2 - GN__SAMPLE_LINE_LOG2);
	int k = find(c, page);

	if (k == NONE && m->bypasses && touch & GN__TOUCH_BATCH && !(touch & GN__TOUCH_WRITE)) {
		out->bypassed++;
	} else {
		if (k == NONE) {
			k = take(c, page, sectors);
			out->frames++;
		}
		c->slot[k].used = c->now;
		touch_sector(m, &c->slot[k], touch, out);
	}
	c->of_touch[c->now++] = k;
}

int gn__auto_replay(const struct gn_auto_trace *trace, const struct gn_auto_model *model,
                    struct gn_auto_moved *out)
{
	struct lru c;
	int rc = lru_init(&c, model->capacity, trace->count);

	memset(out, 0, sizeof *out);
	for (uint64_t k = 0; k < trace->count && !rc; k++) {
		if (k == trace->from)
			memset(out, 0, sizeof *out);
		use(&c, model, trace->touch[k], out);
	}
	lru_free(&c);
	return rc;
}
