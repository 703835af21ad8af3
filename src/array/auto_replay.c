/* SPDX-License-Identifier: Apache-2.0 */
/* The touches of a sample through an LRU cache: what it would have fetched and written. */
#include <stdlib.h>
#include <string.h>

#include <array/auto.h>

enum { NONE = -1 };

/* A page in the modelled cache. */
struct slot {
	uint64_t page;
	uint32_t used; /* number of the touch that used it last */
	int next;      /* of the same bucket */
	int dirty;
};

/* Touches are numbered through both passes. The page used longest ago is that of the first touch that was its page's last. */
struct lru {
	struct slot *slot;
	int *bucket;
	int *of_touch; /* the slot that each touch used; NONE */
	uint32_t bucket_mask;
	int capacity, used;
	uint32_t now, oldest; /* touches: the one at hand; those before oldest were not their pages' last */
};

static uint32_t bucket_of(const struct lru *c, uint64_t page)
{
	return (uint32_t)(page * 0x9e3779b97f4a7c15ull >> 40) & c->bucket_mask;
}

/* @touches  in all */
static int lru_init(struct lru *c, uint64_t capacity, uint64_t touches)
{
	uint32_t buckets = 16;

	while (buckets < 4 * capacity) /* chains are what a replay waits for */
		buckets *= 2;
	c->slot = (struct slot *)malloc(capacity * sizeof *c->slot);
	c->bucket = (int *)malloc(buckets * sizeof *c->bucket);
	c->of_touch = (int *)malloc((touches + 1) * sizeof *c->of_touch);
	if (!c->slot || !c->bucket || !c->of_touch)
		return -GN_ENOMEM;
	memset(c->bucket, 0xff, buckets * sizeof *c->bucket); /* NONE */
	c->bucket_mask = buckets - 1;
	c->capacity = (int)capacity;
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
	int k = c->bucket[bucket_of(c, page)];

	while (k != NONE && c->slot[k].page != page)
		k = c->slot[k].next;
	return k;
}

static void leave_bucket(struct lru *c, int k)
{
	int *at = &c->bucket[bucket_of(c, c->slot[k].page)];

	while (*at != k)
		at = &c->slot[*at].next;
	*at = c->slot[k].next;
}

/* The slot of the page that was used longest ago. */
static int longest_unused(struct lru *c)
{
	int k;

	do {
		k = c->of_touch[c->oldest++];
	} while (k == NONE || c->slot[k].used != c->oldest - 1);
	return k;
}

/* A slot for a page that is not there. *written: the page that had it was dirty. */
static int take(struct lru *c, uint64_t page, int *written)
{
	uint32_t bucket = bucket_of(c, page);
	int k;

	*written = 0;
	if (c->used < c->capacity) {
		k = c->used++;
	} else {
		k = longest_unused(c);
		*written = c->slot[k].dirty;
		leave_bucket(c, k);
	}
	c->slot[k].page = page;
	c->slot[k].dirty = 0;
	c->slot[k].next = c->bucket[bucket];
	c->bucket[bucket] = k;
	return k;
}

struct pass {
	double fetched, alone, around, written;
	uint64_t *missed; /* where the touches go that fetch; NULL: nowhere */
};

/* Reads of these kinds go around the cache where a page is absent. */
static int goes_around(uint64_t touch, uint64_t around)
{
	return touch & around && !(touch & GN_TOUCH_WRITE);
}

/* What is held is fetched by a whole warp, whatever is read of it. */
static double alone(uint64_t touch)
{
	return touch & GN_TOUCH_HELD ? 0 : 1.0 / (double)((touch & GN_TOUCH_ELEMENTS) + 1);
}

static void run_pass(struct lru *c, const uint64_t *touch, uint64_t count, uint32_t unit_log2, uint64_t around,
		     struct pass *p)
{
	for (uint64_t i = 0; i < count; i++, c->now++) {
		const uint64_t page = touch[i] >> GN_TOUCH_LINE_SHIFT >> (unit_log2 - GN_SAMPLE_LINE_LOG2);
		int k = find(c, page), written = 0;

		if (k == NONE && goes_around(touch[i], around)) {
			p->around++;
			c->of_touch[c->now] = NONE;
			continue;
		}
		if (k == NONE) {
			k = take(c, page, &written);
			if (p->missed)
				p->missed[(uint64_t)p->fetched] = touch[i];
			p->fetched++;
			p->alone += alone(touch[i]);
			p->written += written;
		}
		c->slot[k].used = c->now;
		c->of_touch[c->now] = k;
		c->slot[k].dirty |= (touch[i] & GN_TOUCH_WRITE) != 0;
	}
}

static int run_twice(const uint64_t *touch, uint64_t count, uint32_t unit_log2, uint64_t capacity, uint64_t around,
		     struct pass *first, struct pass *second)
{
	struct lru c;
	int rc;

	memset(&c, 0, sizeof c);
	rc = lru_init(&c, capacity < 1 ? 1 : capacity < count ? capacity : count + 1, 2 * count);
	if (!rc)
		run_pass(&c, touch, count, unit_log2, around, first);
	/* else the cache has all that was wanted of it */
	if (!rc && (first->fetched > c.capacity || first->around > 0))
		run_pass(&c, touch, count, unit_log2, around, second);
	lru_free(&c);
	return rc;
}

int gn__auto_replay(const uint64_t *touch, uint64_t count, uint32_t unit_log2, uint64_t capacity, uint64_t around,
		    struct gn_auto_paged *out)
{
	struct pass first = {0, 0, 0, 0, NULL}, second = {0, 0, 0, 0, NULL};
	const int rc = run_twice(touch, count, unit_log2, capacity, around, &first, &second);

	if (rc)
		return rc;
	out->first = first.fetched;
	out->first_alone = first.alone;
	out->second = second.fetched;
	out->second_alone = second.alone;
	out->first_around = first.around;
	out->second_around = second.around;
	out->written = second.written;
	return 0;
}

int gn__auto_missed(const uint64_t *touch, uint64_t count, uint32_t unit_log2, uint64_t capacity, uint64_t *const missed[2],
		    uint64_t counts[2])
{
	struct pass first = {0, 0, 0, 0, missed[0]}, second = {0, 0, 0, 0, missed[1]};
	const int rc = run_twice(touch, count, unit_log2, capacity, 0, &first, &second);

	counts[0] = (uint64_t)first.fetched;
	counts[1] = (uint64_t)second.fetched;
	return rc;
}
