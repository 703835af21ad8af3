/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stress of one cache under several streams: host threads, each with a stream of its own, launch crowds that
 * read, write words of their own, walk cursors and hold pages, and flush, all at once. After a stream's flush
 * its host thread looks into the store: every word that its threads ever wrote must be there, whatever the
 * others do meanwhile. At the end the whole store is compared with what was written.
 */
#include "cache_use.h"

#include <pthread.h>

enum { MOST_STREAMS = 4, LAUNCHES = 6 };

SIMT_FN void crowd(const struct fixture_view *b)
{
	use_cache(b);
}
SIMT_KERNEL(crowd, struct fixture_view)

/* How often each word of this launch's threads was written, for the host; others still count theirs. */
struct report {
	struct fixture_view view;
	uint32_t *written; /* [words] */
};

SIMT_FN void tell(const struct report *a)
{
	const struct fixture_view *b = &a->view;

	for (uint64_t k = b->first_owner + simt_global_thread(); k < b->words.count / 2; k += b->owners)
		a->written[2 * k + 1] = b->written[2 * k + 1];
}
SIMT_KERNEL(tell, struct report)

/* One host thread with its stream. */
struct user {
	struct stress *stress;
	struct fixture *fixture;
	struct fixture_view view; /* with owners of its own */
	struct simt_stream *stream;
	struct simt_grid grid;
	uint64_t random;
	uint32_t *written; /* view.written of its own words; shared memory */
	pthread_t thread;
	int bad;
	char why[600];
};

static int user_wrong(struct user *u, const char *what, const char *why)
{
	snprintf(u->why, sizeof u->why, "%s: %s", what, why);
	return 1;
}

/*
 * Others may be writing a page again while the host reads a word of it: the word's bytes are the same in
 * both, and that is what is tested; but to the thread sanitizer they are a race.
 */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:look_into_store";
}

/* The words of this user's threads, as the store has them. Others write pages beside them. */
static int look_into_store(struct user *u)
{
	const struct report args = {u->view, u->written};
	struct gn_error error;

	if (simt_launch_on(u->stream, &tell_kernel, u->grid, &args, &error) ||
	    simt_stream_wait(u->stream, &error))
		return user_wrong(u, "cannot look", error.text);
	for (uint64_t k = 1; k < u->view.words.count; k += 2) {
		uint64_t word;

		if (!u->written[k])
			continue;
		if (gn_store_read_host(u->fixture->store, k * 8, &word, 8, &error))
			return user_wrong(u, "cannot read the store", error.text);
		if (word != fixture_word(k, u->written[k]))
			return user_wrong(u, "flush", "a word written before it is not in the store");
	}
	return 0;
}

static int launch_and_flush(struct user *u)
{
	struct gn_error error;
	int flushes = draw_chance(&u->random, 60);

	u->view.seed = draw(&u->random);
	if (simt_launch_on(u->stream, &crowd_kernel, u->grid, &u->view, &error))
		return user_wrong(u, "launch", error.text);
	if (flushes && gn_cache_flush_on(u->fixture->cache, u->stream, &error))
		return user_wrong(u, "flush", error.text);
	if (simt_stream_wait(u->stream, &error))
		return user_wrong(u, "kernel", error.text);
	if (flushes && gn_cache_flush_result(u->fixture->cache, u->stream, &error))
		return user_wrong(u, "flush", error.text);
	if (gn_cache_write_failure(u->fixture->cache, &error) || gn_array_failure(&u->view.words, &error))
		return user_wrong(u, "failure", error.text);
	return flushes ? look_into_store(u) : 0;
}

static void *use_stream(void *argument)
{
	struct user *u = (struct user *)argument;

	for (int k = 0; k < LAUNCHES && !u->bad; k++)
		u->bad = launch_and_flush(u);
	return NULL;
}

/* Every thread of every stream owns a word; on a GPU a grid has no fewer threads than a block, 128. */
enum { LEAST_BYTES = 2 * 8 * 128 * MOST_STREAMS };

static void draw_shape(uint64_t *random, struct fixture_shape *shape)
{
	static const uint32_t ways[] = {0, 0, 2, 4};
	uint32_t least;

	shape->page_bytes = 512u << draw_below(random, 6);
	shape->frames = 8 << draw_below(random, 4);
	shape->pages = shape->frames * (1 + draw_below(random, 4)) + draw_below(random, 5);
	least = LEAST_BYTES / shape->page_bytes;
	shape->pages = shape->pages > least ? shape->pages : least;
	shape->ways = ways[draw_below(random, 4)];
	shape->policy = (enum gn_cache_policy)draw_below(random, 3);
	shape->queues = draw_chance(random, 30);
}

static int open_user(struct stress *s, struct fixture *b, struct user *u, struct simt_grid grid,
                     uint64_t *random)
{
	struct gn_error error;

	memset(u, 0, sizeof *u);
	u->stress = s;
	u->fixture = b;
	u->view = b->view;
	u->grid = grid;
	u->random = draw(random);
	u->view.steps = s->info.is_cuda ? 16 : 4 + draw_below(random, 8);
	u->view.most_held = draw_below(random, MOST_HELD + 1);
	u->written = (uint32_t *)simt_alloc(s->machine, b->view.words.count * 4, SIMT_PINNED, &error);
	if (!u->written || simt_stream_create(&u->stream, s->machine, &error))
		return stress_wrong("no stream");
	return 0;
}

static void close_user(struct user *u)
{
	simt_stream_destroy(u->stream);
	simt_free(u->stress->machine, u->written);
}

/* All users at once; every thread of every stream owns words of its own. */
static int run_users(struct stress *s, struct fixture *b, uint64_t *random)
{
	const uint32_t streams = 2 + draw_below(random, MOST_STREAMS - 1);
	const uint64_t most = b->view.words.count / 2 / streams;
	uint64_t threads = 32u << draw_below(random, s->info.is_cuda ? 9 : 5);
	struct simt_grid grid = stress_grid(s, (uint32_t)(threads < most ? threads : most));
	struct user user[MOST_STREAMS];
	uint32_t begun = 0, running = 0;
	int bad = 0;

	threads = (uint64_t)grid.blocks * grid.block_threads;
	for (; begun < streams && !bad; begun++) {
		bad = open_user(s, b, &user[begun], grid, random);
		user[begun].view.first_owner = (uint32_t)(begun * threads);
		user[begun].view.owners = (uint32_t)(streams * threads);
	}
	for (; running < begun && !bad; running++)
		if (pthread_create(&user[running].thread, NULL, use_stream, &user[running]))
			bad = stress_wrong("no host thread");
	for (uint32_t k = 0; k < running; k++) {
		pthread_join(user[k].thread, NULL);
		if (user[k].bad)
			bad = stress_wrong("stream %u of %u: %s", k, streams, user[k].why);
		s->operations += LAUNCHES * threads * user[k].view.steps;
	}
	for (uint32_t k = 0; k < begun; k++)
		close_user(&user[k]);
	return bad;
}

static int streams_round(struct stress *s)
{
	uint64_t random = s->seed;
	struct fixture_shape shape;
	struct fixture b;
	int bad;

	draw_shape(&random, &shape);
	bad = fixture_open(s, &b, &shape) || run_users(s, &b, &random) || fixture_check(s, &b);
	fixture_close(s, &b);
	return bad;
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "cache_streams", streams_round);
}
