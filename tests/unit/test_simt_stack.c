/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's thread that uses up its stack on the machine cpu: the program ends, and says why. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_simt_support.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const int the_sanitizer_handles_it = 1;
#else
static const int the_sanitizer_handles_it = 0;
#endif

struct deep_args {
	uint32_t bytes; /* of local variables */
	uint32_t *sum;
};

/* The bytes from the end on, as one large array or as many calls would. */
SIMT_NOINLINE_FN uint32_t use(volatile char *memory, uint32_t bytes)
{
	uint32_t sum = 0;

	for (uint32_t k = bytes; k-- > 0;)
		memory[k] = (char)k;
	for (uint32_t k = 0; k < bytes; k += 1024)
		sum += (uint32_t)memory[k];
	return sum;
}

SIMT_NOINLINE_FN uint32_t large(uint32_t bytes)
{
	volatile char memory[100000];

	return use(memory + (sizeof memory - bytes), bytes);
}

SIMT_FN void deep(const struct deep_args *a)
{
	simt_add_relaxed_dev_u32(a->sum, large(a->bytes));
}
SIMT_KERNEL(deep, struct deep_args)

static void handler_of_the_program(int number)
{
	(void)number;
	_exit(77);
}

/* Opens a machine and runs the kernel on it with 1000 threads. Each thread uses so many bytes of its stack.
 */
static void run_deep(uint32_t bytes)
{
	struct simt_options config = {"cpu", 1, 1, SIMT_FAIR, 0};
	struct simt_grid grid = {10, 100, 0};
	struct simt_machine *machine;
	struct deep_args args = {bytes, NULL};
	struct gn_error error;

	if (simt_open(&machine, &config, &error))
		_exit(2);
	args.sum = (uint32_t *)simt_alloc(machine, sizeof *args.sum, SIMT_DEVICE, &error);
	simt_launch(machine, &deep_kernel, grid, &args, &error);
	simt_wait(machine, &error);
	simt_free(machine, args.sum);
	simt_close(machine);
}

/* A program of its own, in which as many machines have run already. */
static void run_program(int handles, unsigned earlier, int out)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	dup2(out, STDERR_FILENO);
	signal(SIGSEGV, handles ? handler_of_the_program : SIG_DFL);
	while (earlier--)
		run_deep(1000);
	run_deep(100000);
	_exit(3);
}

static int ends_with(int handles, unsigned earlier, char *text, size_t size)
{
	int end[2], status;
	ssize_t n, all = 0;
	pid_t child;

	assert_int_equal(pipe(end), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		run_program(handles, earlier, end[1]);
	close(end[1]);
	while ((n = read(end[0], text + all, size - 1 - (size_t)all)) > 0)
		all += n;
	text[all] = '\0';
	close(end[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void a_stack_that_is_used_up_is_told(void **state)
{
	(void)state;
	/* machines opened later have stacks of those that were closed */
	for (unsigned earlier = 0; earlier < 3; earlier++) {
		char text[1000];
		const int status = ends_with(0, earlier, text, sizeof text);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSEGV);
		if (!strstr(text, "overflowed its stack"))
			fail_msg("it says \"%s\"", text);
	}
}

/*
 * A signal that the program handles itself is left to it. It has no other stack for it, so the kernel ends
 * it.
 */
static void a_handler_of_the_program_stays(void **state)
{
	char text[1000];
	const int status = ends_with(1, 0, text, sizeof text);

	(void)state;
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : WEXITSTATUS(status) == 77);
	assert_null(strstr(text, "overflowed its stack"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_stack_that_is_used_up_is_told),
	    cmocka_unit_test(a_handler_of_the_program_stays),
	};

	return the_sanitizer_handles_it ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
