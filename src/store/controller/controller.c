/* SPDX-License-Identifier: Apache-2.0 */
#include <store/controller/controller.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <store/controller/port.h>

enum {
	SPINS = 200,        /* rounds without work before the thread yields, and as many before it naps */
	CORES_A_THREAD = 4, /* the threads that post commands need cores, too */
	THREADS_MOST = 16,
};
/*
 * A nap lasts 1 / NAP_SHARE of the time since the last work, from NAP_LEAST_NS to NAP_MOST_NS. So the next
 * command is late by about that share at most, and an idle controller costs almost nothing (a wake-up takes
 * some 10 us of a virtual machine's processor).
 */
#define NAP_SHARE 8
#define NAP_LEAST_NS 50000u
#define NAP_MOST_NS 1000000u
#define WAIT_NS 100000u /* how long a turn of the engine may wait while it has requests */

struct server {
	pthread_t thread;
	struct gn_controller *controller;
	struct gn_engine *engine;
	struct gn_port *port; /* [ports] */
	uint32_t ports;
	uint32_t in_flight;      /* requests that the engine has */
	uint32_t quiet;          /* rounds without work */
	uint64_t quiet_since_ns; /* valid once the thread naps */
};

struct gn_controller {
	uint32_t stop;
	struct gn_namespace ns;
	struct gn_fault_plan faults;
	uint32_t ports;
	struct gn_port *port;
	unsigned servers, running;
	struct server *server;
};

static void nap(uint64_t quiet_ns)
{
	struct timespec pause = {0, NAP_LEAST_NS};

	if (quiet_ns / NAP_SHARE > NAP_MOST_NS)
		pause.tv_nsec = NAP_MOST_NS;
	else if (quiet_ns / NAP_SHARE > NAP_LEAST_NS)
		pause.tv_nsec = (long)(quiet_ns / NAP_SHARE);
	nanosleep(&pause, NULL);
}

/* Complete the requests that the engine has finished. Returns their number. */
static uint32_t take_finished(struct server *s)
{
	struct gn_request *r;
	uint32_t taken = 0;

	for (; (r = gn_request_pop(&s->engine->finished)); taken++)
		gn_port_finish(&s->port[r->port], r);
	s->in_flight -= taken;
	return taken;
}

static void back_off(struct server *s)
{
	if (s->quiet > 2 * SPINS) {
		nap(simt_clock_ns() - s->quiet_since_ns);
		return;
	}
	if (++s->quiet > SPINS)
		simt_relax();
	s->quiet_since_ns = simt_clock_ns();
}

/* One round: start all new commands in the engine, and post all completions. */
static void serve_once(struct server *s)
{
	uint32_t fetched = 0, finished = 0;

	for (uint32_t k = 0; k < s->ports; k++) {
		gn_port_settle(&s->port[k]);
		fetched += gn_port_fetch(&s->port[k], s->engine, &s->in_flight);
	}
	if (s->in_flight) {
		s->engine->ops->turn(s->engine, fetched ? 0 : WAIT_NS);
		finished = take_finished(s);
	}
	if (fetched || finished || s->in_flight)
		s->quiet = 0;
	else
		back_off(s);
}

static void *serve(void *user)
{
	struct server *s = (struct server *)user;

	/* Waits of some 10 us must not be prolonged by the default timer slack of 50 us. */
	prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
	while (!simt_load_acquire_sys_u32(&s->controller->stop))
		serve_once(s);
	while (s->in_flight) {
		s->engine->ops->turn(s->engine, WAIT_NS);
		take_finished(s);
	}
	return NULL;
}

/* The number of cores that this process may run on. */
static unsigned count_cores(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

static unsigned choose_threads(unsigned threads, uint32_t queues)
{
	unsigned cores = count_cores();

	if (!threads)
		threads = cores > CORES_A_THREAD ? cores / CORES_A_THREAD : 1;
	if (threads > THREADS_MOST)
		threads = THREADS_MOST;
	return threads > queues ? queues : threads;
}

/* Give each thread an equal share of the ports, neighbours together. */
static void share_out(struct gn_controller *c)
{
	for (unsigned k = 0; k < c->servers; k++) {
		uint32_t first = (uint32_t)((uint64_t)c->ports * k / c->servers);
		uint32_t end = (uint32_t)((uint64_t)c->ports * (k + 1) / c->servers);

		c->server[k].controller = c;
		c->server[k].port = &c->port[first];
		c->server[k].ports = end - first;
	}
}

static int make_ports(struct gn_controller *c, const struct gn_nvmeq *queue,
                      const struct gn_fault_plan *faults, struct gn_error *error)
{
	if (faults)
		c->faults = *faults;
	for (unsigned k = 0; k < c->servers; k++) {
		struct server *s = &c->server[k];
		uint32_t first = (uint32_t)(s->port - c->port);

		for (uint32_t place = 0; place < s->ports; place++)
			if (gn_port_init(&s->port[place], first + place, place, &queue[first + place], &c->ns,
			                 faults ? &c->faults : NULL))
				return gn_error_set(error, -GN_ENOMEM,
				                    "controller: out of memory for the commands of %u queues",
				                    c->ports);
	}
	return 0;
}

/* Open all engines before the first thread runs, so that every failure to open is reported here. */
static int open_engines(struct gn_controller *c, const struct gn_nvmeq *queue, struct gn_medium *medium,
                        struct gn_error *error)
{
	for (unsigned k = 0; k < c->servers; k++) {
		struct server *s = &c->server[k];
		int rc = medium->open(medium, &s->engine, &queue[s->port[0].index], s->ports, error);

		if (rc)
			return rc;
	}
	return 0;
}

static int start_threads(struct gn_controller *c, struct gn_error *error)
{
	for (; c->running < c->servers; c->running++) {
		struct server *s = &c->server[c->running];

		if (pthread_create(&s->thread, NULL, serve, s))
			return gn_error_set(error, -GN_ENOMEM,
			                    "controller: the system started only %u of %u threads; give "
			                    "fewer with threads=N in the URI",
			                    c->running, c->servers);
	}
	return 0;
}

/* Start the threads with all signals blocked: signals are for the program's own threads. */
static int start_serving(struct gn_controller *c, const struct gn_nvmeq *queue, struct gn_medium *medium,
                         struct gn_error *error)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = open_engines(c, queue, medium, error);
	if (!rc)
		rc = start_threads(c, error);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int gn_controller_start(struct gn_controller **controller, const struct gn_nvmeq *queue, uint32_t count,
                        struct gn_medium *medium, const struct gn_fault_plan *faults, unsigned threads,
                        struct gn_error *error)
{
	struct gn_controller *c = (struct gn_controller *)calloc(1, sizeof *c);
	int rc = -GN_ENOMEM;

	if (!c)
		return gn_error_set(error, rc, "controller: out of memory");
	c->ns.bytes = medium->bytes;
	c->ns.read_only = medium->read_only;
	c->ports = count;
	c->servers = choose_threads(threads, count);
	c->port = (struct gn_port *)calloc(count, sizeof *c->port);
	c->server = (struct server *)calloc(c->servers, sizeof *c->server);
	if (c->port && c->server) {
		share_out(c);
		rc = make_ports(c, queue, faults, error);
	} else {
		c->ports = c->servers = 0;
		gn_error_set(error, rc, "controller: out of memory");
	}
	if (!rc)
		rc = start_serving(c, queue, medium, error);
	if (rc)
		gn_controller_stop(c);
	else
		*controller = c;
	return rc;
}

void gn_controller_stop(struct gn_controller *controller)
{
	struct gn_controller *c = controller;

	simt_store_release_sys_u32(&c->stop, 1);
	for (unsigned k = 0; k < c->running; k++)
		pthread_join(c->server[k].thread, NULL);
	for (unsigned k = 0; k < c->servers; k++)
		if (c->server[k].engine)
			c->server[k].engine->ops->close(c->server[k].engine);
	for (uint32_t k = 0; k < c->ports; k++)
		gn_port_fini(&c->port[k]);
	free(c->port);
	free(c->server);
	free(c);
}

unsigned gn_controller_threads(const struct gn_controller *controller)
{
	return controller->servers;
}

void gn_controller_get_statistics(const struct gn_controller *controller,
                                  struct gn_store_statistics *statistics)
{
	for (uint32_t k = 0; k < controller->ports; k++) {
		const struct gn_store_statistics *c = &controller->port[k].count;

		statistics->reads += simt_load_relaxed_dev_u64(&c->reads);
		statistics->writes += simt_load_relaxed_dev_u64(&c->writes);
		statistics->read_bytes += simt_load_relaxed_dev_u64(&c->read_bytes);
		statistics->written_bytes += simt_load_relaxed_dev_u64(&c->written_bytes);
		statistics->failed += simt_load_relaxed_dev_u64(&c->failed);
	}
}
