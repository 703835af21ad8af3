/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/engine.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A stack is a guard and STACK_BYTES above it. struct simt__fiber lies at the top, so that a switch touches
 * one page. The guard is larger than the stack: a frame of up to twice the stack does not reach the stack
 * below. The stride is an odd number of pages, and the top differs by some lines from one stack to the next.
 * Otherwise the hot lines of a thousand stacks would fall into the same few sets of the caches.
 */
enum {
	PAGE = 4096,
	LINE = 64,
#if SIMT_ASAN || SIMT_TSAN
	STACK_BYTES = 64 * PAGE,
#else
	STACK_BYTES = 16 * PAGE,
#endif
	GUARD_BYTES = STACK_BYTES + PAGE,
	STRIDE = GUARD_BYTES + STACK_BYTES,
	ALTERNATE_BYTES = 16384, /* of the stack on which a signal is handled */
	COLOURS = PAGE / 2 / LINE,
};

struct simt__stacks {
	struct simt__stacks *older;
	char *memory;
	uint32_t used;
	uint32_t guarded; /* stacks that have a guard; at least used */
};

/*
 * Slabs of machines that were closed, for those that are opened next: to map a slab and to protect a guard
 * for each of its stacks takes longer than a short launch. At most 2048 stacks are kept.
 */
enum { SLABS_KEPT = 64 };
static struct {
	pthread_mutex_t lock;
	struct simt__stacks *slabs;
	uint32_t count;
} kept = {PTHREAD_MUTEX_INITIALIZER, NULL, 0};

static struct simt__stacks *take_kept(void)
{
	struct simt__stacks *slab;

	pthread_mutex_lock(&kept.lock);
	slab = kept.slabs;
	if (slab) {
		kept.slabs = slab->older;
		kept.count--;
	}
	pthread_mutex_unlock(&kept.lock);
	return slab;
}

/* Returns 0 if there are enough: the slab stays the caller's. */
static int keep(struct simt__stacks *slab)
{
	int kept_it = 0;

	pthread_mutex_lock(&kept.lock);
	if (kept.count < SLABS_KEPT) {
		slab->older = kept.slabs;
		kept.slabs = slab;
		kept.count++;
		kept_it = 1;
	}
	pthread_mutex_unlock(&kept.lock);
	return kept_it;
}

static struct simt__stacks *slab_map(void)
{
	struct simt__stacks *slab = (struct simt__stacks *)malloc(sizeof *slab);

	if (!slab)
		return NULL;
	slab->guarded = 0;
	slab->memory = (char *)mmap(NULL, (size_t)STRIDE * SIMT__STACKS_A_SLAB, PROT_READ | PROT_WRITE,
	                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (slab->memory == (char *)MAP_FAILED) {
		free(slab);
		return NULL;
	}
	return slab;
}

static struct simt__stacks *slab_new(struct simt__stacks *older)
{
	struct simt__stacks *slab = take_kept();

	if (!slab)
		slab = slab_map();
	if (!slab)
		return NULL;
	slab->older = older;
	slab->used = 0;
	return slab;
}

/* The guard of the slab's next stack; NULL if there can be none. */
static char *next_guard(struct simt__stacks *slab)
{
	char *guard = slab->memory + (size_t)slab->used * STRIDE;

	if (slab->used == slab->guarded) {
		if (mprotect(guard, GUARD_BYTES, PROT_NONE))
			return NULL;
		slab->guarded++;
	}
	return guard;
}

struct simt__fiber *simt__stack_fiber(struct simt__stacks **stacks, void **low, size_t *bytes)
{
	struct simt__stacks *slab = *stacks;
	char *guard, *top;

	if (!slab || slab->used == SIMT__STACKS_A_SLAB) {
		slab = slab_new(*stacks);
		if (!slab)
			return NULL;
		*stacks = slab;
	}
	guard = next_guard(slab);
	if (!guard)
		return NULL;
	top = guard + STRIDE - (size_t)(slab->used * 5 % COLOURS) * LINE;
	top -= (sizeof(struct simt__fiber) + LINE - 1) / LINE * LINE;
	slab->used++;
	*low = guard + GUARD_BYTES;
	*bytes = (size_t)(top - (char *)*low);
	memset(top, 0, sizeof(struct simt__fiber));
	return (struct simt__fiber *)top;
}

/* ---- a stack that is too small ---- */

/* Does the address lie in the guard of the fiber's stack? The fiber is at the top of its stack. */
static int is_in_guard(const struct simt__fiber *f, const void *address)
{
	const uintptr_t below = (uintptr_t)f - (uintptr_t)address;

	return below > STACK_BYTES - 2 * PAGE && below <= STRIDE;
}

/*
 * Print the cause and let the access fail again with the default action, so that the program ends as usual.
 */
static void on_fault(int number, siginfo_t *fault, void *context)
{
	static const char text[] =
	    "grapnel: a thread of a kernel has overflowed its stack (64 KiB on the machine cpu). Put large "
	    "arrays into simt_shared() or into memory from simt_alloc, or avoid deep calls.\n";

	ssize_t ignored = 0;

	(void)context;
	if (simt__self != &simt__host_lane && is_in_guard(simt__fiber_self(), fault->si_addr))
		ignored = write(STDERR_FILENO, text, sizeof text - 1);
	(void)ignored;
	signal(number, SIG_DFL);
	if (fault->si_code <= 0) /* a process sent the signal, so no instruction is repeated */
		raise(number);
}

/* Install the handler, unless the program or a sanitizer has one. */
static void handle_faults(void)
{
	struct sigaction action;

	if (sigaction(SIGSEGV, NULL, &action) || action.sa_flags & SA_SIGINFO || action.sa_handler != SIG_DFL)
		return;
	action.sa_sigaction = on_fault;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigemptyset(&action.sa_mask);
	sigaction(SIGSEGV, &action, NULL);
}

void *simt__stack_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	stack_t alternate;
	void *memory;

	pthread_once(&once, handle_faults);
	if (sigaltstack(NULL, &alternate) || !(alternate.ss_flags & SS_DISABLE))
		return NULL;
	memory = malloc(ALTERNATE_BYTES);
	alternate.ss_sp = memory;
	alternate.ss_size = ALTERNATE_BYTES;
	alternate.ss_flags = 0;
	if (memory && sigaltstack(&alternate, NULL)) {
		free(memory);
		return NULL;
	}
	return memory;
}

void simt__stack_unwatch(void *memory)
{
	stack_t none;

	if (!memory)
		return;
	/* The program may have set another alternate stack meanwhile. */
	if (sigaltstack(NULL, &none) || none.ss_sp != memory) {
		free(memory);
		return;
	}
	none.ss_sp = NULL;
	none.ss_size = 0;
	none.ss_flags = SS_DISABLE;
	sigaltstack(&none, NULL);
	free(memory);
}

void simt__stacks_free(struct simt__stacks *stacks)
{
	while (stacks) {
		struct simt__stacks *older = stacks->older;

		if (!keep(stacks)) {
			munmap(stacks->memory, (size_t)STRIDE * SIMT__STACKS_A_SLAB);
			free(stacks);
		}
		stacks = older;
	}
}
