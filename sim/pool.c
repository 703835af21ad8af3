/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - a turn is announced and awaited by one word each, which change under a lock so that no sleeper
 * misses it.
 */
#include <sim/pool.h>

#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <pthread.h>
#include <stdlib.h>

enum { LOOKS = 50000 }; /* before who waits sleeps: some 20 us */

struct member {
	struct sim_pool *pool;
	uint32_t number;
	pthread_t thread;
};

struct sim_pool {
	sim_pool_work *work;
	void *user;
	uint32_t members; /* that run, the caller among them */
	int quit;
	struct member *member;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* a line each, so that looking at one does not disturb another */
	uint32_t turn[32]; /* how many were announced */
	uint32_t done[32]; /* members that are done with this one */
};

static void wait_for(struct sim_pool *c, const uint32_t *word, uint32_t value)
{
	for (uint32_t looks = 0; looks < LOOKS; looks++)
		if (simt_load_acquire_dev_u32(word) == value) /* pairs with add_one */
			return;
	pthread_mutex_lock(&c->lock);
	while (simt_load_relaxed_dev_u32(word) != value)
		pthread_cond_wait(&c->changed, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

static void add_one(struct sim_pool *c, uint32_t *word)
{
	pthread_mutex_lock(&c->lock);
	simt_store_release_dev_u32(word, simt_load_relaxed_dev_u32(word) + 1); /* pairs with wait_for */
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static void *run(void *argument)
{
	const struct member *me = (const struct member *)argument;
	struct sim_pool *c = me->pool;

	for (uint32_t turn = 1;; turn++) {
		wait_for(c, c->turn, turn);
		if (c->quit)
			return NULL;
		c->work(c->user, me->number);
		add_one(c, c->done);
	}
}

void sim_pool_turn(struct sim_pool *c)
{
	simt_store_relaxed_dev_u32(c->done, 0);
	add_one(c, c->turn);
	c->work(c->user, 0);
	wait_for(c, c->done, c->members - 1);
}

static int add_member(struct sim_pool *c)
{
	struct member *m = &c->member[c->members];

	m->pool = c;
	m->number = c->members;
	if (pthread_create(&m->thread, NULL, run, m))
		return -GN_ENOMEM;
	c->members++;
	return 0;
}

int sim_pool_create(struct sim_pool **pool, uint32_t members, sim_pool_work *work, void *user)
{
	struct sim_pool *c = (struct sim_pool *)calloc(1, sizeof *c);
	int r = 0;

	if (!c)
		return -GN_ENOMEM;
	c->work = work;
	c->user = user;
	c->members = 1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	c->member = (struct member *)calloc(members, sizeof *c->member);
	if (!c->member)
		r = -GN_ENOMEM;
	while (!r && c->members < members)
		r = add_member(c);
	if (r)
		sim_pool_destroy(c);
	else
		*pool = c;
	return r;
}

void sim_pool_destroy(struct sim_pool *c)
{
	if (!c)
		return;
	c->quit = 1;
	add_one(c, c->turn);
	for (uint32_t k = 1; k < c->members; k++)
		pthread_join(c->member[k].thread, NULL);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c->member);
	free(c);
}
