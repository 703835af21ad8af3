/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a program ends. The last PE does what the first argument says, the others wait for it in a barrier.
 *
 *   global STATUS   shmem_global_exit
 *   exit STATUS     leaves main, without shmem_finalize
 *   stray           puts where nothing is symmetric
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const int status = argc > 2 ? atoi(argv[2]) : 0;
	long mine = 1;

	shmem_init();
	if (argc < 2 || shmem_my_pe() < shmem_n_pes() - 1) {
		shmem_barrier_all();
		return 0;
	}
	if (!strcmp(argv[1], "global"))
		shmem_global_exit(status);
	if (!strcmp(argv[1], "stray"))
		shmem_long_p(&mine, 1, 0);
	if (!status)
		shmem_barrier_all();
	return status;
}
