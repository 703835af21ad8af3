/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stress of the queue pair with a bad controller and impatient users: completions come late, twice and in any
 * order, and half of the users give up after a millisecond.
 */
#include "queue_round.h"

static int one_round(struct stress *s)
{
	static const struct queue_mode mode = {{50, 10, 5, 7}, 256, 5000, 50, 1000000, 2, 8};

	return queue_round(s, &mode);
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "queue_faults", one_round);
}
