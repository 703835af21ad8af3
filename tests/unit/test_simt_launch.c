/* SPDX-License-Identifier: Apache-2.0 */
/* A grid's threads know who they are, run once each, and wait for each other across blocks. */
#include "test_simt_support.h"

struct identity {
	uint32_t *visits; /* one a thread of the grid */
	uint32_t *wrong;
	uint32_t blocks, block_threads, width;
};

SIMT_FN void identify(const struct identity *a)
{
	uint32_t thread = simt_thread(), block = simt_block();
	int right = thread < a->block_threads && block < a->blocks && simt_blocks() == a->blocks &&
	            simt_block_threads() == a->block_threads && simt_warp_width() == a->width &&
	            simt_lane() == thread % a->width &&
	            simt_global_thread() == (uint64_t)block * a->block_threads + thread &&
	            simt_global_threads() == (uint64_t)a->blocks * a->block_threads;

	if (right)
		simt_add_relaxed_dev_u32(&a->visits[simt_global_thread()], 1);
	else
		simt_add_relaxed_dev_u32(a->wrong, 1);
}
SIMT_KERNEL(identify, struct identity)

static void check_identity(struct simt_machine *machine, uint32_t width, uint32_t blocks,
                           uint32_t block_threads)
{
	size_t threads = (size_t)blocks * block_threads;
	uint32_t *visits = (uint32_t *)simt_alloc(machine, (threads + 1) * sizeof *visits, SIMT_PINNED, NULL);
	struct identity a = {visits, visits + threads, blocks, block_threads, width};
	struct simt_grid grid = {blocks, block_threads, 0};

	assert_non_null(visits);
	assert_int_equal(simt_launch(machine, &identify_kernel, grid, &a, NULL), 0);
	assert_int_equal(simt_wait(machine, NULL), 0);
	for (size_t k = 0; k < threads; k++)
		assert_int_equal(visits[k], 1);
	assert_int_equal(*a.wrong, 0);
	simt_free(machine, visits);
}

static void each_thread_runs_once(void **state)
{
	static const uint32_t shapes[][2] = {{1, 1},    {1, 31},    {7, 33},  {3, 1024},
	                                     {1000, 1}, {129, 100}, {5, 1023}};
	static const uint32_t widths[] = {1, 2, 4, 8, 16, 32};

	(void)state;
	for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
		for (unsigned workers = 1; workers <= 3; workers++) {
			struct simt_machine *machine = open_cpu(workers, widths[w]);

			for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
				check_identity(machine, widths[w], shapes[k][0], shapes[k][1]);
			simt_close(machine);
		}
	}
}

/* Thread k waits for thread k + 1; only the last one need not. */
struct chain {
	uint32_t *done;
};

SIMT_FN void follow(const struct chain *a)
{
	uint64_t me = simt_global_thread();

	if (me + 1 < simt_global_threads()) {
		while (!simt_load_acquire_dev_u32(&a->done[me + 1]))
			simt_relax();
	}
	simt_store_release_dev_u32(&a->done[me], 1);
}
SIMT_KERNEL(follow, struct chain)

static void check_chain(unsigned workers, unsigned width, uint32_t block_threads)
{
	struct simt_machine *machine = open_cpu(workers, width);
	struct simt_info info;
	struct simt_grid grid = {0, block_threads, 0};
	struct chain a;

	simt_describe(machine, &info);
	grid.blocks = info.resident_threads / block_threads;
	if (!grid.blocks)
		grid.blocks = 1; /* one block runs, however large */
	a.done = (uint32_t *)simt_alloc(machine, (size_t)grid.blocks * block_threads * sizeof *a.done,
	                                SIMT_DEVICE, NULL);
	for (int again = 0; again < 2; again++) {
		memset(a.done, 0, (size_t)grid.blocks * block_threads * sizeof *a.done);
		assert_int_equal(simt_launch(machine, &follow_kernel, grid, &a, NULL), 0);
		assert_int_equal(simt_wait(machine, NULL), 0);
		for (size_t k = 0; k < (size_t)grid.blocks * block_threads; k++)
			assert_int_equal(a.done[k], 1);
	}
	simt_free(machine, a.done);
	simt_close(machine);
}

/* As many threads as the machine says it runs at once may all wait for each other. */
static void threads_wait_across_blocks(void **state)
{
	(void)state;
	check_chain(1, 1, 1);
	check_chain(1, 1, 64);
	check_chain(2, 1, 1000);
	check_chain(2, 8, 64);
	check_chain(3, 32, 1024);
}

/* A few threads wait for a host thread while many others come and go; launches run in order. */
struct order {
	uint32_t *log, *count;
	uint32_t launch;
};

SIMT_FN void note(const struct order *a)
{
	simt_store_relaxed_dev_u32(&a->log[simt_add_relaxed_dev_u32(a->count, 1)], a->launch);
}
SIMT_KERNEL(note, struct order)

static void launches_run_in_order(void **state)
{
	struct simt_machine *machine = open_cpu(2, 1);
	struct simt_grid grid = {4, 8, 0};
	uint32_t *memory = (uint32_t *)simt_alloc(machine, 4096, SIMT_PINNED, NULL);
	uint32_t copy[32 * 10];

	(void)state;
	for (uint32_t k = 0; k < 10; k++) {
		struct order a = {memory + 1, memory, k};

		assert_int_equal(simt_launch(machine, &note_kernel, grid, &a, NULL), 0);
	}
	assert_int_equal(simt_move(machine, copy, memory + 1, sizeof copy, NULL), 0);
	for (uint32_t k = 0; k < 32 * 10; k++)
		assert_int_equal(copy[k], k / 32);
	simt_free(machine, memory);
	simt_close(machine);
}

static void bad_requests_are_refused(void **state)
{
	static const struct simt_options configs[] = {
	    {NULL, 0, 0, SIMT_FAIR, 0},   {"gpu", 0, 0, SIMT_FAIR, 0},      {"cpu", 0, 3, SIMT_FAIR, 0},
	    {"cpu", 0, 64, SIMT_FAIR, 0}, {"cpu", 100000, 0, SIMT_FAIR, 0},
	};
	static const struct simt_grid grids[] = {
	    {0, 1, 0}, {1, 0, 0}, {1, 1025, 0}, {1, 1, 48 * 1024 + 1}, {0x80000000u, 1, 0},
	};
	static const struct simt_grid one = {1, 1, 0};
	struct simt_machine *machine;
	struct order a = {NULL, NULL, 0};

	(void)state;
	for (size_t k = 0; k < sizeof configs / sizeof *configs; k++) {
		struct gn_error error = {0, ""};
		int err = simt_open(&machine, &configs[k], &error);

		assert_int_equal(err, k == 1 ? -GN_ENODEV : -GN_EINVAL);
		assert_null(machine);
		assert_int_equal(error.code, err);
		assert_true(strlen(error.text) > 10);
	}
	machine = open_cpu(1, 1);
	for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
		struct gn_error error;

		assert_int_equal(simt_launch(machine, &note_kernel, grids[k], &a, &error), -GN_EINVAL);
		assert_non_null(strstr(error.text, "note"));
	}
	assert_int_equal(simt_launch(machine, NULL, one, &a, NULL), -GN_EINVAL);
	assert_int_equal(simt_launch(machine, &note_kernel, one, NULL, NULL), -GN_EINVAL);
	assert_int_equal(simt_wait(machine, NULL), 0);
	simt_close(machine);
}

static void what_cannot_be_allocated_is_told(void **state)
{
	const size_t wants[] = {SIZE_MAX, SIZE_MAX / 4};
	struct simt_machine *machine = open_cpu(1, 1);
	struct gn_error error;

	(void)state;
	for (size_t k = 0; k < sizeof wants / sizeof *wants; k++) {
		char number[24];

		snprintf(number, sizeof number, "%zu", wants[k]);
		error.code = 0;
		assert_null(simt_alloc(machine, wants[k], SIMT_DEVICE, &error));
		assert_int_equal(error.code, -GN_ENOMEM);
		assert_non_null(strstr(error.text, number));
		assert_null(simt_alloc(machine, wants[k], SIMT_DEVICE, NULL));
	}
	simt_close(machine);
}

/* Words before a message; one that is too long is cut. */
static void a_message_gets_words_in_front(void **state)
{
	struct gn_error error;
	char words[2 * sizeof error.text];

	(void)state;
	memset(words, 'w', sizeof words - 1);
	words[sizeof words - 1] = '\0';
	gn_error_set(&error, -GN_EIO, "the drive failed");
	assert_int_equal(gn_error_prefix(&error, 0, "not now"), 0);
	assert_string_equal(error.text, "the drive failed");
	assert_int_equal(gn_error_prefix(&error, -GN_ENOSPC, "store %d", 3), -GN_ENOSPC);
	assert_int_equal(error.code, -GN_ENOSPC);
	assert_string_equal(error.text, "store 3: the drive failed");
	assert_int_equal(gn_error_prefix(&error, -GN_EIO, "%s", words), -GN_EIO);
	assert_int_equal(strlen(error.text), sizeof error.text - 1);
	assert_int_equal(gn_error_prefix(NULL, -GN_EIO, "nobody listens"), -GN_EIO);
}

static void memory_is_zeroed_and_aligned(void **state)
{
	static const size_t sizes[] = {0, 1, 4096, 100000, (2 << 20) - 1, 2 << 20, 9 << 20};
	struct simt_machine *machine = open_cpu(1, 1);

	(void)state;
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		unsigned char *memory = (unsigned char *)simt_alloc(machine, sizes[k], SIMT_DEVICE, NULL);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % 4096, 0);
		for (size_t at = 0; at < sizes[k]; at++)
			assert_int_equal(memory[at], 0);
		memset(memory, 0xff, sizes[k]);
		simt_free(machine, memory);
	}
	assert_null(simt_alloc(machine, SIZE_MAX - 10, SIMT_DEVICE, NULL));
	assert_null(simt_alloc(machine, (size_t)1 << 60, SIMT_PINNED, NULL));
	simt_close(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_thread_runs_once),
	    cmocka_unit_test(threads_wait_across_blocks),
	    cmocka_unit_test(launches_run_in_order),
	    cmocka_unit_test(bad_requests_are_refused),
	    cmocka_unit_test(what_cannot_be_allocated_is_told),
	    cmocka_unit_test(a_message_gets_words_in_front),
	    cmocka_unit_test(memory_is_zeroed_and_aligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
