/* SPDX-License-Identifier: Apache-2.0 */
/* From C++, and from several threads of each PE at the same time. */
#include "check.h"

#include <thread>
#include <vector>

enum { THREADS = 4, TIMES = 100 };

static long sum, slot[THREADS];

static void work(int me, int pes, int thread)
{
	const int to = (me + 1) % pes;

	for (int k = 1; k <= TIMES; k++) {
		shmem_long_atomic_add(&sum, 1, k % pes);
		shmem_long_p(&slot[thread], k, to);
		shmem_fence();
		check(shmem_long_g(&slot[thread], to) == k);
	}
	shmem_quiet();
}

int main()
{
	int provided = -1;
	long total = 0;

	check(!shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) && provided == SHMEM_THREAD_MULTIPLE);
	std::vector<std::thread> threads;
	for (int t = 0; t < THREADS; t++)
		threads.emplace_back(work, shmem_my_pe(), shmem_n_pes(), t);
	for (auto &t : threads)
		t.join();
	shmem_barrier_all();
	for (int pe = 0; pe < shmem_n_pes(); pe++)
		total += shmem_long_g(&sum, pe);
	check(total == (long)THREADS * TIMES * shmem_n_pes());
	shmem_finalize();
}
