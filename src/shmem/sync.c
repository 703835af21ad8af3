/* SPDX-License-Identifier: Apache-2.0 */
/* sync.c - order, waits for puts of other PEs, and locks. */
#include <shmem/pe.h>

SHMEM__NAMES_SYNC

/* ---- order ---- */

/*
 * May messages have been sent since the last quiet? If several threads send at once, the tail read after a
 * quiet may count messages for which the quiet did not wait.
 */
static int may_have_sent(void)
{
	return gn_shmem.threads == SHMEM_THREAD_MULTIPLE ||
	       simt_load_relaxed_dev_u64(&gn_shmem.view->log->tail) != gn_shmem.done;
}

void gn_shmem_quiet(const char *function)
{
	gn_net_fence(gn_shmem.view);
	if (!may_have_sent())
		return;
	gn_shmem_check(function, gn_net_quiet(gn_shmem.view), pshmem_my_pe());
	if (gn_shmem.threads == SHMEM_THREAD_MULTIPLE)
		return;
	gn_shmem.done = simt_load_relaxed_dev_u64(&gn_shmem.view->log->tail);
	gn_shmem.behind = 0;
}

void shmem_fence(void)
{
	if (simt_load_relaxed_dev_u32(&gn_shmem.behind))
		gn_shmem_quiet("shmem_fence");
	else
		gn_net_fence(gn_shmem.view);
}

void shmem_quiet(void)
{
	gn_shmem_quiet("shmem_quiet");
}

/* ---- waiting ---- */

void gn_shmem_wait_on(const char *function, uint32_t tries, uint64_t *deadline)
{
	const int rc = gn__net_backoff(gn_shmem.view, tries, deadline);

	if (rc != -GN_EAGAIN)
		gn_shmem_fail(function, rc, pshmem_my_pe());
}

/*
 * A PE that sees the value also sees all that was put before it. Other threads run meanwhile, among them the
 * network thread.
 */
#define TEST(T, N)                                                                               \
	GN_SHMEM_COMPARE(T, N)                                                                   \
	int shmem_##N##_test(T *ivar, int cmp, T value)                                          \
	{                                                                                        \
		const int is = compare_##N(*(volatile T *)ivar, cmp, value);                     \
                                                                                                 \
		if (is)                                                                          \
			simt_fence_acq_rel_sys();                                                \
		else                                                                             \
			simt_relax();                                                            \
		return is;                                                                       \
	}                                                                                        \
	void shmem_##N##_wait_until(T *ivar, int cmp, T value)                                   \
	{                                                                                        \
		uint64_t deadline = 0;                                                           \
                                                                                                 \
		for (uint32_t tries = 0; !compare_##N(*(volatile T *)ivar, cmp, value); tries++) \
			gn_shmem_wait_on("shmem_wait_until", tries, &deadline);                  \
		simt_fence_acq_rel_sys();                                                        \
	}

SHMEM__WAIT_OWN(TEST)
SHMEM__AMO_ALIAS(TEST)

uint64_t shmem_signal_fetch(const uint64_t *sig_addr)
{
	return simt_load_acquire_sys_u64((uint64_t *)(uintptr_t)sig_addr);
}

uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
	uint64_t is, deadline = 0;

	for (uint32_t tries = 0; !compare_uint64(is = pshmem_signal_fetch(sig_addr), cmp, cmp_value); tries++)
		gn_shmem_wait_on("shmem_signal_wait_until", tries, &deadline);
	return is;
}

/* ---- locks ---- */

/*
 * A lock is one word on one PE, which is chosen by the lock's address. The low half is the next ticket, the
 * high half the ticket that is served. The last PE that leaves sets the word to 0, so that tickets do not run
 * out.
 */
static const uint64_t one_served = 1ull << 32;

static uint32_t next_ticket(uint64_t lock)
{
	return (uint32_t)lock;
}

static uint32_t served(uint64_t lock)
{
	return (uint32_t)(lock >> 32);
}

static uint32_t home(const long *lock)
{
	uint64_t address = 0;

	gn_shmem_check("lock", gn_net_address(gn_shmem.view, lock, sizeof *lock, &address), pshmem_my_pe());
	return (uint32_t)(address / sizeof *lock % gn_shmem.view->nodes);
}

static uint64_t look(long *lock, uint32_t pe)
{
	uint64_t word;

	gn_shmem_check("lock", gn_net_get_u64(gn_shmem.view, pe, (uint64_t *)lock, &word), (int)pe);
	return word;
}

/* Replace the lock's word if it is as expected. Returns 1 if it was. */
static int replace(long *lock, uint32_t pe, uint64_t expected, uint64_t by)
{
	uint64_t before;

	gn_shmem_check("lock", gn_net_cas_u64(gn_shmem.view, pe, (uint64_t *)lock, expected, by, &before),
	               (int)pe);
	return before == expected;
}

void shmem_set_lock(long *lock)
{
	const uint32_t pe = home(lock);
	uint64_t word, deadline = 0;
	uint32_t ticket;

	gn_shmem_check("lock", gn_net_fetch_add_u64(gn_shmem.view, pe, (uint64_t *)lock, 1, &word), (int)pe);
	ticket = next_ticket(word);
	for (uint32_t tries = 0; served(word) != ticket; tries++) {
		gn_shmem_wait_on("shmem_set_lock", tries, &deadline);
		word = look(lock, pe);
	}
}

int shmem_test_lock(long *lock)
{
	const uint32_t pe = home(lock);
	const uint64_t word = look(lock, pe);

	return next_ticket(word) != served(word) || !replace(lock, pe, word, word + 1);
}

void shmem_clear_lock(long *lock)
{
	const uint32_t pe = home(lock);
	uint64_t word;

	pshmem_quiet(); /* all operations under the lock are done */
	word = look(lock, pe);
	if (next_ticket(word) == served(word) + 1 && replace(lock, pe, word, 0))
		return;
	gn_shmem_check("lock", gn_net_add_u64(gn_shmem.view, pe, (uint64_t *)lock, one_served), (int)pe);
	pshmem_quiet();
}

/* ---- older names ---- */

#define OLD_WAIT(T, N)                                              \
	void shmem_##N##_wait(T *ivar, T value)                     \
	{                                                           \
		pshmem_##N##_wait_until(ivar, SHMEM_CMP_NE, value); \
	}
SHMEM__WHOLE(OLD_WAIT)

void shmem_wait(long *ivar, long value)
{
	pshmem_long_wait(ivar, value);
}

void(shmem_wait_until)(long *ivar, int cmp, long value)
{
	pshmem_long_wait_until(ivar, cmp, value);
}

/* Caches are coherent, so these functions do nothing. */

void shmem_clear_cache_inv(void)
{
}

void shmem_set_cache_inv(void)
{
}

void shmem_clear_cache_line_inv(void *dest)
{
	(void)dest;
}

void shmem_set_cache_line_inv(void *dest)
{
	(void)dest;
}

void shmem_udcflush(void)
{
}

void shmem_udcflush_line(void *dest)
{
	(void)dest;
}
