/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c - simt_relax, the clock and the copy, for kernel threads and for host threads. */
#include <simt/check.h>
#include <simt/engine.h>

#include <sched.h>
#include <time.h>

/* A checking schedule has no ring. */
enum { STEPS_A_ROUND = 256 };

uint64_t simt__system_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void simt__give_way(void)
{
	const uint64_t crowded_ns = 400000;
	const struct timespec nap = {0, 20000};
	static __thread uint32_t naps;
	uint64_t began;

	if (naps) {
		naps--;
		nanosleep(&nap, NULL);
		return;
	}
	began = simt__system_ns();
	sched_yield();
	if (simt__system_ns() - began > crowded_ns)
		naps = 200;
}

void simt__relax(void)
{
	struct simt__fiber *f = simt__fiber_self();

	if (!f) {
		simt__give_way();
		return;
	}
	if (f->warp)
		simt__warp_stop(f);
	if (simt_unlikely(f->worker->check != NULL))
		simt__check_relax(f->worker, f);
	else
		simt__fair_relax(f->worker, f);
	if (f->warp)
		f->warp->stopped &= ~(1u << f->lane.lane);
}

uint64_t simt__clock_ns(void)
{
	struct simt__fiber *f = simt__fiber_self();

	if (f && f->worker->check)
		return simt__check_clock_ns(f->worker);
	return simt__system_ns();
}

uint32_t simt__round(void)
{
	struct simt__fiber *f = simt__fiber_self();
	static __thread uint32_t calls;

	if (!f)
		return calls++;
	if (f->worker->check)
		return (uint32_t)(f->worker->check->steps / STEPS_A_ROUND);
	return (uint32_t)(__atomic_load_n(&f->worker->rounds->ended, __ATOMIC_RELAXED) >> 32);
}

void simt__read_before_fence(const void *word)
{
	struct simt__fiber *f = simt__fiber_self();

	if (!f) {
		SIMT__ACQUIRE((void *)(uintptr_t)word);
		return;
	}
	/* Only four words are remembered: the oldest counts as acquired already now. */
	if (f->read[3])
		SIMT__ACQUIRE((void *)(uintptr_t)f->read[3]);
	f->read[3] = f->read[2];
	f->read[2] = f->read[1];
	f->read[1] = f->read[0];
	f->read[0] = word;
}

void simt__fence_passed(void)
{
	struct simt__fiber *f = simt__fiber_self();

	for (int k = 0; f && k < 4; k++) {
		if (f->read[k])
			SIMT__ACQUIRE((void *)(uintptr_t)f->read[k]);
		f->read[k] = NULL;
	}
}

/*
 * Readers that validate afterwards may race with this copy by design. The thread sanitizer must not see the
 * copy: this file is not instrumented, and memcpy, which is, is not called.
 */
static void copy_words(void *to, const void *from, size_t bytes)
{
	uint64_t *target = (uint64_t *)to;
	const uint64_t *source = (const uint64_t *)from;

	for (size_t k = 0; k < bytes / sizeof *target; k++)
		__atomic_store_n(&target[k], __atomic_load_n(&source[k], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

void simt__copy(void *to, const void *from, size_t bytes)
{
	struct simt__fiber *f = simt__fiber_self();

	if (f)
		f->worker->quiet_since_ns = 0;
	if (SIMT_TSAN)
		copy_words(to, from, bytes);
	else
		memcpy(to, from, bytes);
}
