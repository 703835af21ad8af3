/* SPDX-License-Identifier: Apache-2.0 */
/* Stress of the queue pair: a crowd on few and shallow queues, any order, some commands fail. */
#include "queue_round.h"

static int one_round(struct stress *s)
{
	static const struct queue_mode mode = {{50, 0, 0, 7}, 2048, 20000, 0, 0, 1, 8};

	return queue_round(s, &mode);
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "queue", one_round);
}
