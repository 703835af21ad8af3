/* SPDX-License-Identifier: Apache-2.0 */
#include <store/file/file.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <grapnel/nvme.h>

struct threads {
	struct gn_engine base; /* first */
	const struct gn_file_target *target;
	pthread_mutex_t mutex; /* guards the members below, except the threads' ids */
	pthread_cond_t work, done;
	struct gn_request_list todo, finished;
	int closing;
	unsigned running;
	pthread_t thread[];
};

static struct threads *threads_of(struct gn_engine *engine)
{
	return (struct threads *)engine;
}

static int64_t call(const struct gn_file_target *t, const struct gn_request *r)
{
	const struct iovec *s = &r->segment[r->first];
	int count = (int)(r->segments - r->first), fd = t->fd[gn_file_target_choose(t, r)];
	ssize_t n = r->opcode == GN_NVME_READ ? preadv(fd, s, count, (off_t)r->offset)
	                                      : pwritev(fd, s, count, (off_t)r->offset);

	return n < 0 ? -errno : n;
}

static void execute(const struct gn_file_target *t, struct gn_request *r)
{
	if (r->opcode == GN_NVME_FLUSH)
		r->status =
		    fdatasync(t->fd[GN_FILE_BUFFERED]) ? (uint32_t)GN_NVME_WRITE_FAULT : (uint32_t)GN_NVME_OK;
	else if (r->bytes)
		while (!gn_file_target_moved(t, r, call(t, r)))
			;
}

static void *work(void *user)
{
	struct threads *e = (struct threads *)user;

	pthread_mutex_lock(&e->mutex);
	for (;;) {
		struct gn_request *r = gn_request_pop(&e->todo);

		if (r) {
			pthread_mutex_unlock(&e->mutex);
			execute(e->target, r);
			pthread_mutex_lock(&e->mutex);
			gn_request_push(&e->finished, r);
			pthread_cond_signal(&e->done);
		} else if (e->closing) {
			break;
		} else {
			pthread_cond_wait(&e->work, &e->mutex);
		}
	}
	pthread_mutex_unlock(&e->mutex);
	return NULL;
}

static void threads_start(struct gn_engine *engine, struct gn_request *r)
{
	struct threads *e = threads_of(engine);

	pthread_mutex_lock(&e->mutex);
	gn_request_push(&e->todo, r);
	pthread_cond_signal(&e->work);
	pthread_mutex_unlock(&e->mutex);
}

static void wait_for_one(struct threads *e, uint64_t wait_ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)wait_ns;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&e->done, &e->mutex, &until);
}

static void threads_turn(struct gn_engine *engine, uint64_t wait_ns)
{
	struct threads *e = threads_of(engine);
	struct gn_request *r;

	pthread_mutex_lock(&e->mutex);
	if (!e->finished.first && wait_ns)
		wait_for_one(e, wait_ns);
	while ((r = gn_request_pop(&e->finished)))
		gn_request_push(&engine->finished, r);
	pthread_mutex_unlock(&e->mutex);
}

static void threads_close(struct gn_engine *engine)
{
	struct threads *e = threads_of(engine);

	pthread_mutex_lock(&e->mutex);
	e->closing = 1;
	pthread_cond_broadcast(&e->work);
	pthread_mutex_unlock(&e->mutex);
	for (unsigned k = 0; k < e->running; k++)
		pthread_join(e->thread[k], NULL);
	pthread_cond_destroy(&e->work);
	pthread_cond_destroy(&e->done);
	pthread_mutex_destroy(&e->mutex);
	free(e);
}

static const struct gn_engine_ops threads_ops = {threads_start, threads_turn, threads_close};

int gn_threads_open(struct gn_engine **engine, const struct gn_file_target *target, unsigned threads)
{
	struct threads *e = (struct threads *)calloc(1, sizeof *e + threads * sizeof e->thread[0]);

	if (!e)
		return -GN_ENOMEM;
	e->base.ops = &threads_ops;
	e->target = target;
	pthread_mutex_init(&e->mutex, NULL);
	pthread_cond_init(&e->work, NULL);
	pthread_cond_init(&e->done, NULL);
	for (; e->running < threads; e->running++)
		if (pthread_create(&e->thread[e->running], NULL, work, e))
			break;
	if (!e->running) {
		threads_close(&e->base);
		return -GN_ENOMEM;
	}
	*engine = &e->base;
	return 0;
}
