/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_cpu.c - the cpu machine: OS threads that stay, and streams that run one launch at a time each.
 *
 * A launch is open when all earlier launches of its stream have ended. Workers join an open launch and run
 * its blocks until none is left. A free worker joins the open launch with the fewest workers, the oldest of
 * these. So a single launch gets every worker, and several launches share them.
 */
#include <simt/check.h>
#include <simt/engine.h>
#include <simt/machine.h>
#include <simt/machine_cpu.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
	/*
	 * The most threads that wait at one time on one OS thread, and on all. Two mappings for each stack
	 * must fit in what Linux gives a process by default (65530). The thread sanitizer keeps, in each
	 * lock, what each of these threads has seen; few of them take the same locks.
	 */
	LIVE_A_WORKER = SIMT_TSAN ? 256 : 1024,
	LIVE_IN_ALL = 24576,
	WORKERS_MOST = 1024,
};

struct cpu_worker {
	struct cpu_machine *machine;
	pthread_t thread;
	struct simt__worker worker;
};

struct cpu_stream {
	struct simt_stream base; /* first */
	void *arguments;         /* used only by the host thread that uses the stream */
	size_t argument_bytes;
	struct simt__launch launch;

	/* Under the machine's mutex. */
	struct cpu_stream *next; /* in the machine's list of open launches */
	unsigned members;        /* workers that run the launch */
	int busy;                /* 1: the launch has not ended */
	struct gn_error failure; /* of launches since the last wait; code 0: none */
};

struct cpu_machine {
	struct simt_machine base; /* first */
	struct cpu_stream own;
	unsigned workers, warp_width, live;
	struct cpu_worker *worker;
	struct simt__check *random; /* NULL: the fair schedule */
	/* workers change it: on no line with what they read */
	char pad[64];
	struct simt__rounds rounds;
	char pad_behind[64];

	pthread_mutex_t mutex; /* guards the members below, and streams */
	pthread_cond_t work, done;
	struct cpu_stream *open; /* streams whose launches may have blocks left, the oldest first */
	int closing;
};

static struct cpu_machine *cpu_of(struct simt_machine *machine)
{
	return (struct cpu_machine *)machine;
}

static struct cpu_stream *stream_of(struct simt_stream *stream)
{
	return (struct cpu_stream *)stream;
}

/* ---- workers; with the mutex held ---- */

static struct cpu_stream *least_joined(struct cpu_machine *m)
{
	struct cpu_stream *best = m->open;

	for (struct cpu_stream *s = best; s; s = s->next)
		if (s->members < best->members)
			best = s;
	return best;
}

static void open_launch(struct cpu_machine *m, struct cpu_stream *s)
{
	struct cpu_stream **last = &m->open;

	while (*last)
		last = &(*last)->next;
	s->next = NULL;
	*last = s;
	s->busy = 1;
	pthread_cond_broadcast(&m->work);
}

/* A worker found no block left: no other worker need join. */
static void close_launch(struct cpu_machine *m, struct cpu_stream *s)
{
	struct cpu_stream **at = &m->open;

	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
}

/* Wait for a launch to join. Returns NULL when the machine closes. */
static struct cpu_stream *join_launch(struct cpu_machine *m)
{
	struct cpu_stream *s;

	pthread_mutex_lock(&m->mutex);
	while (!m->open && !m->closing)
		pthread_cond_wait(&m->work, &m->mutex);
	s = least_joined(m);
	if (s)
		s->members++;
	pthread_mutex_unlock(&m->mutex);
	return s;
}

static void leave_launch(struct cpu_machine *m, struct cpu_stream *s)
{
	pthread_mutex_lock(&m->mutex);
	close_launch(m, s);
	if (--s->members == 0) {
		s->busy = 0;
		pthread_cond_broadcast(&m->done);
	}
	pthread_mutex_unlock(&m->mutex);
}

static void *worker_body(void *user)
{
	struct cpu_worker *self = (struct cpu_worker *)user;
	struct cpu_machine *m = self->machine;
	struct cpu_stream *s;

	/* Short sleeps must not be prolonged by the default timer slack of 50 us. */
	prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
	simt__worker_init(&self->worker, (uint32_t)(self - m->worker), m->warp_width, m->live);
	self->worker.check = m->random;
	self->worker.rounds = &m->rounds;
	while ((s = join_launch(m)) != NULL) {
		simt__worker_run(&self->worker, &s->launch);
		if (m->random)
			simt__random_reset(m->random);
		leave_launch(m, s);
	}
	simt__worker_fini(&self->worker);
	return NULL;
}

/* ---- streams ---- */

/* Wait for the last launch and keep its failure. With the mutex held. */
static void settle(struct cpu_machine *m, struct cpu_stream *s)
{
	while (s->busy)
		pthread_cond_wait(&m->done, &m->mutex);
	SIMT__ACQUIRE(&s->launch.ended);
	if (s->launch.error.code && !s->failure.code)
		s->failure = s->launch.error;
	s->launch.error.code = 0;
}

/* Tell the caller that an earlier launch failed. With the mutex held. Returns its code; 0: none did. */
static int tell(const struct cpu_stream *s, struct gn_error *error)
{
	return s->failure.code ? gn_error_set(error, s->failure.code, "%s", s->failure.text) : 0;
}

static int keep_arguments(struct cpu_stream *s, const void *arguments, size_t bytes)
{
	if (bytes > s->argument_bytes) {
		void *more = aligned_alloc(64, (bytes + 63) / 64 * 64);

		if (!more)
			return -GN_ENOMEM;
		free(s->arguments);
		s->arguments = more;
		s->argument_bytes = bytes;
	}
	if (bytes)
		memcpy(s->arguments, arguments, bytes);
	return 0;
}

static int cpu_launch(struct simt_stream *stream, const struct simt_kernel *kernel, struct simt_grid grid,
                      const void *arguments, struct gn_error *error)
{
	struct cpu_machine *m = cpu_of(stream->machine);
	struct cpu_stream *s = stream_of(stream);
	int err;

	pthread_mutex_lock(&m->mutex);
	settle(m, s);
	err = keep_arguments(s, arguments, kernel->argument_bytes);
	if (!err) {
		simt__launch_init(&s->launch, kernel, grid, s->arguments);
		s->launch.share = (grid.blocks + m->workers - 1) / m->workers;
		open_launch(m, s);
	} else {
		gn_error_set(error, err, "kernel %s: no memory for its arguments", kernel->name);
	}
	pthread_mutex_unlock(&m->mutex);
	return err;
}

static int cpu_wait(struct simt_stream *stream, struct gn_error *error)
{
	struct cpu_machine *m = cpu_of(stream->machine);
	struct cpu_stream *s = stream_of(stream);
	int err;

	pthread_mutex_lock(&m->mutex);
	settle(m, s);
	err = tell(s, error);
	s->failure.code = 0;
	pthread_mutex_unlock(&m->mutex);
	return err;
}

static int cpu_follow(struct simt_stream *stream, struct simt_stream *other, struct gn_error *error)
{
	struct cpu_machine *m = cpu_of(other->machine), *to = cpu_of(stream->machine);
	struct gn_error failure;

	(void)error; /* a wait for the stream tells of it */
	pthread_mutex_lock(&m->mutex);
	settle(m, stream_of(other));
	failure = stream_of(other)->failure;
	pthread_mutex_unlock(&m->mutex);
	if (!failure.code)
		return 0;
	pthread_mutex_lock(&to->mutex);
	stream_of(stream)->failure = failure;
	pthread_mutex_unlock(&to->mutex);
	return 0;
}

/*
 * copy - copy bytes. A few aligned words are copied as a GPU's copy does it, each word at once: kernels of
 * other streams may change them by atomic operations meanwhile, as they do with counters.
 */
static void copy(void *to, const void *from, size_t bytes)
{
	uint64_t *t = (uint64_t *)to;
	uint64_t *f = (uint64_t *)from; /* only read; atomic loads take no const */
	uint64_t word[32];

	if (bytes > sizeof word || ((uintptr_t)to | (uintptr_t)from | bytes) % sizeof *word) {
		memmove(to, from, bytes);
		return;
	}
	for (size_t k = 0; k < bytes / sizeof *word; k++)
		word[k] = simt_load_relaxed_dev_u64(&f[k]);
	for (size_t k = 0; k < bytes / sizeof *word; k++)
		simt_store_relaxed_dev_u64(&t[k], word[k]);
}

static int cpu_move(struct simt_stream *stream, void *to, const void *from, size_t bytes,
                    struct gn_error *error)
{
	struct cpu_machine *m = cpu_of(stream->machine);
	struct cpu_stream *s = stream_of(stream);
	int err;

	pthread_mutex_lock(&m->mutex);
	settle(m, s);
	err = tell(s, error) ? -GN_EIO : 0;
	pthread_mutex_unlock(&m->mutex);
	if (!err && bytes)
		copy(to, from, bytes);
	return err;
}

static int cpu_stream_create(struct simt_stream **stream, struct simt_machine *machine,
                             struct gn_error *error)
{
	struct cpu_stream *s = (struct cpu_stream *)calloc(1, sizeof *s);

	if (!s)
		return gn_error_set(error, -GN_ENOMEM, "no memory for a stream");
	s->base.machine = machine;
	*stream = &s->base;
	return 0;
}

static int cpu_stream_adopt(struct simt_stream **stream, struct simt_machine *machine, void *foreign,
                            struct gn_error *error)
{
	(void)stream;
	(void)machine;
	(void)foreign;
	return gn_error_set(error, -GN_ENOTSUP,
	                    "the machine cpu cannot adopt a stream; create one with simt_stream_create");
}

static void cpu_stream_destroy(struct simt_stream *stream)
{
	cpu_wait(stream, NULL);
	free(stream_of(stream)->arguments);
	free(stream);
}

static void *cpu_stream_handle(const struct simt_stream *stream)
{
	(void)stream;
	return NULL;
}

/* ---- the machine ---- */

static int cpu_prepare(struct simt_machine *machine, const struct simt_kernel *kernel, struct gn_error *error)
{
	(void)machine;
	(void)kernel;
	(void)error;
	return 0;
}

static int cpu_pin(struct simt_machine *machine, void *memory, size_t bytes, void **device,
                   struct gn_error *error)
{
	(void)machine;
	(void)bytes;
	(void)error;
	*device = memory;
	return 0;
}

static void cpu_unpin(struct simt_machine *machine, void *memory, size_t bytes)
{
	(void)machine;
	(void)memory;
	(void)bytes;
}

static void cpu_info(const struct simt_machine *machine, struct simt_info *info)
{
	const struct cpu_machine *m = (const struct cpu_machine *)machine;

	strcpy(info->name, "cpu");
	info->processors = m->workers;
	info->warp_width = m->warp_width;
	info->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGE_SIZE);
	info->resident_threads = m->workers * m->live;
}

static void stop_workers(struct cpu_machine *m, unsigned begun)
{
	pthread_mutex_lock(&m->mutex);
	m->closing = 1;
	pthread_cond_broadcast(&m->work);
	pthread_mutex_unlock(&m->mutex);
	for (unsigned k = 0; k < begun; k++)
		pthread_join(m->worker[k].thread, NULL);
}

static void free_machine(struct cpu_machine *m)
{
	simt__random_free(m->random);
	free(m->worker);
	free(m);
}

static void cpu_close(struct simt_machine *machine)
{
	struct cpu_machine *m = cpu_of(machine);

	cpu_wait(machine->own, NULL);
	stop_workers(m, m->workers);
	pthread_cond_destroy(&m->work);
	pthread_cond_destroy(&m->done);
	pthread_mutex_destroy(&m->mutex);
	free(m->own.arguments);
	free_machine(m);
}

static unsigned cores(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set))
		return (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	return (unsigned)CPU_COUNT(&set);
}

static int check_options(const struct simt_options *options, struct gn_error *error)
{
	unsigned width = options->warp_width;

	if (width > 32 || width & (width - 1))
		return gn_error_set(error, -GN_EINVAL,
		                    "warp width %u is not possible; give 1, 2, 4, 8, 16 or 32", width);
	if (options->threads > WORKERS_MOST)
		return gn_error_set(error, -GN_EINVAL, "%u OS threads are too many; give at most %d",
		                    options->threads, WORKERS_MOST);
	if (options->schedule != SIMT_FAIR && options->schedule != SIMT_RANDOM)
		return gn_error_set(error, -GN_EINVAL,
		                    "schedule %d does not exist; give SIMT_FAIR or SIMT_RANDOM",
		                    (int)options->schedule);
	return 0;
}

static void set_up(struct cpu_machine *m, const struct simt_options *options)
{
	m->workers = options->threads ? options->threads : cores();
	if (m->workers > WORKERS_MOST)
		m->workers = WORKERS_MOST;
	if (options->schedule == SIMT_RANDOM)
		m->workers = 1;
	m->warp_width = options->warp_width ? options->warp_width : 1;
	m->live = LIVE_IN_ALL / m->workers;
	if (m->live > LIVE_A_WORKER)
		m->live = LIVE_A_WORKER;
	pthread_mutex_init(&m->mutex, NULL);
	pthread_cond_init(&m->work, NULL);
	pthread_cond_init(&m->done, NULL);
}

static int start_workers(struct cpu_machine *m, struct gn_error *error)
{
	for (unsigned k = 0; k < m->workers; k++) {
		m->worker[k].machine = m;
		if (pthread_create(&m->worker[k].thread, NULL, worker_body, &m->worker[k])) {
			stop_workers(m, k);
			return gn_error_set(
			    error, -GN_ENOMEM,
			    "the system started only %u of %u OS threads; give fewer in options.threads", k,
			    m->workers);
		}
	}
	return 0;
}

/* All machines use the memory of one process, so nothing is to be done. */
static int cpu_enable_peer(struct simt_machine *machine, struct simt_machine *other)
{
	(void)machine;
	(void)other;
	return 0;
}

static void cpu_reside(struct simt_machine *machine, int more)
{
	(void)machine;
	(void)more;
}

static const struct simt_machine_ops cpu_ops = {
    simt__cpu_alloc,  simt__cpu_free,     cpu_pin,           cpu_unpin,
    cpu_prepare,      cpu_info,           cpu_close,         cpu_stream_create,
    cpu_stream_adopt, cpu_stream_destroy, cpu_stream_handle, cpu_launch,
    cpu_wait,         cpu_move,           cpu_enable_peer,   simt__cpu_export,
    simt__cpu_import, simt__cpu_unimport, cpu_reside,        NULL,
    cpu_pin,          &simt__cpu_spread,  cpu_follow,        NULL};

static int start(struct cpu_machine *m, const struct simt_options *options, struct gn_error *error)
{
	m->worker = (struct cpu_worker *)calloc(m->workers, sizeof *m->worker);
	if (options->schedule == SIMT_RANDOM)
		m->random = simt__random_new(options->seed);
	if (!m->worker || (options->schedule == SIMT_RANDOM && !m->random))
		return gn_error_set(error, -GN_ENOMEM, "no memory for a machine");
	return start_workers(m, error);
}

int simt__cpu_open(struct simt_machine **machine, const struct simt_options *options, struct gn_error *error)
{
	struct cpu_machine *m;
	int err = check_options(options, error);

	if (err)
		return err;
	m = (struct cpu_machine *)calloc(1, sizeof *m);
	if (!m)
		return gn_error_set(error, -GN_ENOMEM, "no memory for a machine");
	m->base.ops = &cpu_ops;
	m->base.own = &m->own.base;
	m->own.base.machine = &m->base;
	set_up(m, options);
	err = start(m, options, error);
	if (err) {
		free_machine(m);
		return err;
	}
	*machine = &m->base;
	return 0;
}
