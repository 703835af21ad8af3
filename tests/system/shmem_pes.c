/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of somebody who uses shmem.h: how many PEs there are, and that they add up. Prints one line, on
 * PE 0.
 */
#include <shmem.h>
#include <stdio.h>

static long sum;

int main(void)
{
	shmem_init();
	shmem_atomic_add(&sum, (long)shmem_my_pe() + 1, 0);
	shmem_barrier_all();
	if (!shmem_my_pe())
		printf("%d PEs, sum %ld\n", shmem_n_pes(), sum);
	shmem_finalize();
	return 0;
}
