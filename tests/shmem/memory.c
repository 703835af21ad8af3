/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is symmetric: the heap, and static data of every kind; put and get between all pairs, of every length.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 10000, ROUNDS = 200 };

static int in_bss[4];
static int in_data[4] = {7, 7, 7, 7};
long global_word;
static char bytes[MOST + 64];

static void statics_are_symmetric(int me, int pes)
{
	static double local_static = 1;
	const int to = (me + 1) % pes, from = (me + pes - 1) % pes;
	int mine[4] = {me, me + 1, me + 2, me + 3};
	int unsymmetric;

	shmem_int_put(in_bss, mine, 4, to);
	shmem_int_put(in_data + 1, mine, 2, to);
	shmem_double_p(&local_static, me + 0.5, to);
	shmem_long_p(&global_word, me, to);
	shmem_barrier_all();
	check(in_bss[0] == from && in_bss[3] == from + 3);
	check(in_data[0] == 7 && in_data[1] == from && in_data[2] == from + 1 && in_data[3] == 7);
	check(local_static == from + 0.5 && global_word == from);
	check(shmem_addr_accessible(in_bss, to) && shmem_addr_accessible(&local_static, to));
	check(!shmem_addr_accessible(&unsymmetric, to) && !shmem_addr_accessible(in_bss, pes));
	check(shmem_ptr(in_bss, me) == in_bss);
	shmem_barrier_all();
}

static void bytes_arrive_at_any_place(int me, int pes)
{
	static const size_t length[] = {1, 2, 3, 4, 7, 8, 9, 16, 100, 4095, 4096, 4097, MOST};
	char *from = (char *)malloc(MOST), *back = (char *)malloc(MOST);
	const int to = (me + 1) % pes;

	for (size_t k = 0; k < sizeof length / sizeof *length; k++) {
		const size_t at = k * 5 % 64;

		for (size_t b = 0; b < length[k]; b++)
			from[b] = (char)(b * 31 + (size_t)me + k);
		shmem_putmem(bytes + at, from, length[k], to);
		shmem_getmem(back, bytes + at, length[k], to); /* behind the put */
		check(!memcmp(back, from, length[k]));
		shmem_getmem_nbi(back, bytes + at, length[k], to);
		shmem_quiet();
		check(!memcmp(back, from, length[k]));
		shmem_barrier_all();
	}
	free(from);
	free(back);
}

static void strides_count_elements(int me, int pes)
{
	short *to = (short *)shmem_calloc(40, sizeof *to), from[20], back[10];
	const int next = (me + 1) % pes, last = (me + pes - 1) % pes;

	for (short k = 0; k < 20; k++)
		from[k] = (short)(100 * me + k);
	shmem_short_iput(to, from, 3, 2, 10, next);
	shmem_barrier_all();
	for (int k = 0; k < 40; k++)
		check(to[k] == (k % 3 || k >= 30 ? 0 : 100 * last + k / 3 * 2));
	memset(back, 0, sizeof back);
	shmem_iget16(back, to, 2, 6, 5, next);
	for (int k = 0; k < 10; k++)
		check(back[k] == (k % 2 ? 0 : 100 * me + k / 2 * 4));
	shmem_free(to);
}

static void the_heap_is_alike_everywhere(int me, int pes)
{
	char *a = (char *)shmem_malloc(1000), *b = (char *)shmem_align(1 << 20, 100), *c;
	int *offset = (int *)shmem_malloc(sizeof *offset);
	int other;

	check((uintptr_t)b % (1 << 20) == 0);
	*offset = (int)(b - a);
	shmem_barrier_all();
	for (int pe = 0; pe < pes; pe++) {
		shmem_int_get(&other, offset, 1, pe);
		check(other == *offset);
	}
	memset(a, me + 1, 1000);
	c = (char *)shmem_realloc(a, 100000);
	check(c && c[0] == me + 1 && c[999] == me + 1);
	shmem_char_p(c + 99999, (char)me, (me + 1) % pes);
	shmem_barrier_all();
	check(c[99999] == (me + pes - 1) % pes);
	check(!shmem_malloc((size_t)1 << 50) && !shmem_malloc(0));
	shmem_free(c);
	shmem_free(b);
	shmem_free(offset);
}

/*
 * Who sees the flag sees the words, of whatever memory both are: by messages and not, one must not overtake
 * the other.
 */
static void a_fence_orders_memory_of_both_kinds(int me, int pes)
{
	static long words[ROUNDS], flag;
	long *heap = (long *)shmem_malloc(2 * sizeof *heap), *heap_flag = heap + 1;
	const int to = (me + 1) % pes;

	for (long k = 0; k < ROUNDS; k++) {
		shmem_long_p(&words[k], k + 1, to);
		shmem_fence();
		shmem_long_p(heap_flag, k + 1, to);
		shmem_long_wait_until(heap_flag, SHMEM_CMP_GE, k + 1);
		check(*(volatile long *)&words[k] == k + 1);
		shmem_long_p(heap, k + 1, to);
		shmem_fence();
		shmem_long_p(&flag, k + 1, to);
		shmem_long_wait_until(&flag, SHMEM_CMP_GE, k + 1);
		check(*(volatile long *)heap >= k + 1);
	}
	shmem_barrier_all();
	shmem_free(heap);
}

/* Where a PE has an address for another's memory, what it stores there is there. */
static void pointers_lead_to_other_pes(int me, int pes)
{
	long *heap = (long *)shmem_malloc(pes * sizeof *heap);
	const int to = (me + 1) % pes;
	long *there = (long *)shmem_ptr(&heap[me], to);

	check(shmem_ptr(&heap[me], me) == &heap[me]);
	check(!shmem_ptr(&global_word, to) || to == me);
	if (there)
		*there = me + 1;
	else
		shmem_long_p(&heap[me], me + 1, to);
	shmem_barrier_all();
	check(heap[(me + pes - 1) % pes] == (me + pes - 1) % pes + 1);
	shmem_free(heap);
}

int main(void)
{
	int me, pes;

	shmem_init();
	me = shmem_my_pe();
	pes = shmem_n_pes();
	statics_are_symmetric(me, pes);
	bytes_arrive_at_any_place(me, pes);
	strides_count_elements(me, pes);
	the_heap_is_alike_everywhere(me, pes);
	a_fence_orders_memory_of_both_kinds(me, pes);
	pointers_lead_to_other_pes(me, pes);
	shmem_finalize();
	return 0;
}
