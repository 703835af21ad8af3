/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe.c - initialisation and end of a PE.
 *
 * shmem_init starts a thread that calls gn_net_run. So this thread initialises MPI, makes MPI's calls while
 * net runs, and ends MPI. The node's program thread only waits for shmem_finalize.
 */
#include <shmem/pe.h>

#include <net/transport.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

SHMEM__NAMES_PE

/*
 * PATIENCE_S: how long a PE waits for others, because a program may compute for long before it gets to where
 * others wait. ABORT_S: how long a PE waits until the network thread has ended the program.
 */
enum { PATIENCE_S = 24 * 3600, ABORT_S = 10, MOST_MEETINGS = 64 << 20 };

static const uint64_t default_heap_bytes = 256ull << 20;

/* Defined by the linker: the bounds of the program's static data, with and without initial values. */
extern char __data_start[], _end[];

struct gn_shmem gn_shmem;

static struct {
	pthread_t thread;
	sem_t ready, over;
	int exit_handler; /* number of the handler that ends all PEs */
	int began, ended;
	int rc;
	struct gn_error error;
} life;

/* ---- failures ---- */

void gn_shmem_fail(const char *function, int code, int pe)
{
	struct gn_error error = {0, ""};
	struct gn_net_fault fault;

	gn_net_failure(gn_shmem.net, &fault, &error);
	fprintf(stderr, "PE %d: %s with PE %d: %s%s%s\n", pshmem_my_pe(), function, pe, gn_error_name(code),
	        *error.text ? ": " : "", error.text);
	pshmem_global_exit(EXIT_FAILURE);
	abort();
}

/* ---- end all PEs at once: done by the network thread, because it may call MPI ---- */

static void end_all(const struct gn_net_incoming *message, void *unused)
{
	int status;

	(void)unused;
	memcpy(&status, message->payload, sizeof status);
	life.ended = 1; /* at_exit has nothing left to do */
	gn_mpi_abort(status);
}

void shmem_global_exit(int status)
{
	fflush(NULL);
	if (gn_shmem.net && !gn_net_call(gn_shmem.view, gn_shmem.view->node, (uint32_t)life.exit_handler,
	                                 &status, sizeof status))
		sleep(ABORT_S);
	_exit(status); /* the launcher ends the others */
}

/* ---- run ---- */

/* Bytes of the heap in place of pSync arrays in this amount of static data. */
static uint64_t meetings_bytes(uint64_t data_bytes)
{
	return data_bytes <= MOST_MEETINGS ? data_bytes : 0;
}

static int node_main(struct gn_net *net, void *unused)
{
	uint64_t bytes;
	int rc;

	(void)unused;
	life.exit_handler = gn_net_handler(net, "shmem_global_exit", end_all, NULL, NULL);
	gn_shmem.view = gn_net_host(net);
	bytes = meetings_bytes(gn_shmem.view->data_bytes);
	if (bytes)
		gn_shmem.meetings = (char *)gn_net_alloc(net, bytes, NULL);
	rc = life.exit_handler < 0 ? life.exit_handler : gn_shmem_teams_begin(net);
	if (!rc)
		rc = gn_net_barrier(gn_net_host(net)); /* all PEs have the handler */
	if (rc)
		return rc;
	gn_shmem.net = net;
	sem_post(&life.ready);
	while (sem_wait(&life.over))
		; /* a signal */
	return 0;
}

/* Parse a size in OpenSHMEM's form: a number, with or without a point, and k, m, g or t. 0: invalid. */
static uint64_t parse_size(const char *text)
{
	static const char unit[] = "kmgt";
	char *end;
	double size = strtod(text, &end);
	const char *at = *end ? strchr(unit, *end | 32) : NULL;

	if (at)
		end++;
	for (; at && at >= unit; at--)
		size *= 1024;
	return *end || size < 1 || size > 1e15 ? 0 : (uint64_t)size;
}

static uint64_t heap_bytes(void)
{
	const char *name = getenv("SHMEM_SYMMETRIC_SIZE") ? "SHMEM_SYMMETRIC_SIZE" : "SMA_SYMMETRIC_SIZE";
	const char *text = getenv(name);
	uint64_t bytes;

	if (!text)
		return default_heap_bytes;
	bytes = parse_size(text);
	if (bytes)
		return bytes + (1 << 20); /* net's own part, which the program does not get */
	fprintf(stderr, "%s=%s is not a size; give a number of bytes, or a number with k, m, g or t\n", name,
	        text);
	exit(EXIT_FAILURE);
}

/* The route between PEs of one host; users choose packets to measure messages. */
static enum gn_net_route route(void)
{
	const char *text = getenv("GRAPNEL_SHMEM_ROUTE");

	if (!text || !strcmp(text, "direct"))
		return GN_NET_DIRECT;
	if (!strcmp(text, "packets"))
		return GN_NET_PACKETS;
	fprintf(stderr, "GRAPNEL_SHMEM_ROUTE=%s is not a route; give direct or packets\n", text);
	exit(EXIT_FAILURE);
}

static void *run(void *unused)
{
	struct gn_net_options options;

	(void)unused;
	memset(&options, 0, sizeof options);
	options.nodes = 1; /* without a launcher */
	options.machine.threads = 1;
	options.route = route();
	options.data = (void *)((uintptr_t)__data_start & ~(uintptr_t)15);
	options.data_bytes = (uint64_t)(_end - (char *)options.data);
	options.heap_bytes = heap_bytes() + GN_SHMEM_TEAMS_BYTES + meetings_bytes(options.data_bytes);
	options.timeout_ns = PATIENCE_S * 1000000000ull;
	life.rc = gn_net_run(&options, node_main, NULL, &life.error);
	sem_post(&life.ready); /* a thread that still waits in shmem_init sees the failure */
	return NULL;
}

/*
 * A program that exits with success need not call shmem_finalize; one that fails must not wait for other
 * PEs.
 */
static void at_exit(int status, void *unused)
{
	(void)unused;
	if (!status)
		pshmem_finalize();
	else if (!life.ended)
		pshmem_global_exit(status);
}

static void begin(void)
{
	life.began = 1;
	sem_init(&life.ready, 0, 0);
	sem_init(&life.over, 0, 0);
	if (pthread_create(&life.thread, NULL, run, NULL)) {
		fprintf(stderr, "shmem_init: the system has no thread left for the network\n");
		exit(EXIT_FAILURE);
	}
	while (sem_wait(&life.ready))
		; /* a signal */
	if (!gn_shmem.net) {
		fprintf(stderr, "shmem_init: %s\n", life.error.text);
		exit(EXIT_FAILURE);
	}
	on_exit(at_exit, NULL);
}

int shmem_init_thread(int requested, int *provided)
{
	if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE)
		return -GN_EINVAL;
	if (!life.began) {
		gn_shmem.threads = requested;
		begin();
	}
	*provided = gn_shmem.threads;
	return 0;
}

void shmem_init(void)
{
	int provided;

	pshmem_init_thread(SHMEM_THREAD_SINGLE, &provided);
}

void shmem_finalize(void)
{
	if (!gn_shmem.net || life.ended)
		return;
	pshmem_barrier_all();
	gn_shmem_ctx_discard_all();
	life.ended = 1;
	sem_post(&life.over);
	pthread_join(life.thread, NULL);
	if (life.rc)
		fprintf(stderr, "shmem_finalize: %s\n", life.error.text);
	gn_shmem.net = NULL;
}

/* ---- queries ---- */

void shmem_query_thread(int *provided)
{
	*provided = gn_shmem.threads;
}

int shmem_my_pe(void)
{
	return gn_shmem.net ? (int)gn_shmem.view->node : -1;
}

int shmem_n_pes(void)
{
	return gn_shmem.net ? (int)gn_shmem.view->nodes : -1;
}

int shmem_pe_accessible(int pe)
{
	return pe >= 0 && pe < pshmem_n_pes();
}

int shmem_addr_accessible(const void *addr, int pe)
{
	uint64_t address;

	return pshmem_pe_accessible(pe) && !gn_net_address(gn_shmem.view, addr, 1, &address);
}

void *shmem_ptr(const void *dest, int pe)
{
	uint64_t address;

	if (!pshmem_pe_accessible(pe) || gn_net_address(gn_shmem.view, dest, 1, &address))
		return NULL;
	return gn__net_reached(gn_shmem.view, (uint32_t)pe, address, (void *)(uintptr_t)dest);
}

void shmem_info_get_version(int *major, int *minor)
{
	*major = SHMEM_MAJOR_VERSION;
	*minor = SHMEM_MINOR_VERSION;
}

void shmem_info_get_name(char *name)
{
	strcpy(name, SHMEM_VENDOR_STRING);
}

void shmem_pcontrol(int level, ...)
{
	(void)level;
}

/* ---- older names ---- */

void start_pes(int npes)
{
	(void)npes;
	pshmem_init();
}

int _my_pe(void)
{
	return pshmem_my_pe();
}

int _num_pes(void)
{
	return pshmem_n_pes();
}
