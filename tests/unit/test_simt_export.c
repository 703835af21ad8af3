/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one process that another has too. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_simt_support.h"

enum { WORDS = 1 << 19 }; /* 4 MiB: with room for a huge page, which moves where the memory begins */

static struct simt_machine *machine;
static const char *program; /* this one */

static int set_up(void **state)
{
	(void)state;
	machine = open_cpu(1, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	simt_close(machine);
	return 0;
}

static uint64_t *export_words(struct simt_exported *exported)
{
	uint64_t *word = (uint64_t *)simt_alloc(machine, WORDS * sizeof *word, SIMT_EXPORTED, NULL);

	assert_non_null(word);
	assert_int_equal(simt_export(machine, word, exported, NULL), 0);
	return word;
}

/* The other process: this program, which hears on its standard input of what. Returns 0 if all went well. */
static int add_there(void)
{
	struct simt_machine *m = open_cpu(1, 1);
	struct simt_exported exported;
	void *memory = NULL;
	uint64_t *word;
	int rc = read(STDIN_FILENO, &exported, sizeof exported) != sizeof exported ||
	         simt_import(m, &exported, &memory, NULL);

	word = (uint64_t *)memory;
	for (uint32_t k = 0; !rc && k < WORDS; k++)
		rc = simt_add_relaxed_dev_u64(&word[k], 1) != k;
	simt_unimport(m, &exported, memory);
	simt_close(m);
	return rc;
}

static void what_one_process_changes_the_other_sees(void **state)
{
	struct simt_exported exported;
	uint64_t *word = export_words(&exported);
	int status = 0, ends[2];
	pid_t pid;

	(void)state;
	for (uint32_t k = 0; k < WORDS; k++)
		word[k] = k;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], &exported, sizeof exported), sizeof exported);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(ends[0], STDIN_FILENO);
		execl(program, program, "add", NULL);
		_exit(1);
	}
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	for (uint32_t k = 0; k < WORDS; k++)
		assert_int_equal(word[k], k + 1);
	simt_free(machine, word);
}

static void it_stays_until_all_have_given_it_back(void **state)
{
	struct simt_exported exported;
	uint64_t *word = export_words(&exported), *again;
	void *memory;

	(void)state;
	word[WORDS - 1] = 7;
	assert_int_equal(simt_import(machine, &exported, &memory, NULL), 0);
	again = (uint64_t *)memory;
	assert_ptr_not_equal(again, word);
	simt_free(machine, word);
	assert_int_equal(again[WORDS - 1], 7);
	simt_unimport(machine, &exported, memory);
}

static void only_what_was_exported_is_imported(void **state)
{
	struct simt_exported exported, other;
	uint64_t *word = export_words(&exported);
	void *own = simt_alloc(machine, 4096, SIMT_PINNED, NULL), *memory = own;
	struct gn_error error;

	(void)state;
	assert_int_equal(simt_export(machine, own, &other, &error), -GN_ENOTSUP);
	assert_non_null(strstr(error.text, "cannot be shared"));
	simt_free(machine, own);
	for (uint32_t k = 0; k < 2; k++) { /* the file's number; its size */
		other = exported;
		other.handle[k]++;
		assert_int_equal(simt_import(machine, &other, &memory, NULL), -GN_ENOTSUP);
		assert_null(memory);
	}
	other = exported;
	other.host[0] ^= 1;
	assert_int_equal(simt_import(machine, &other, &memory, &error), -GN_ENOTSUP);
	assert_non_null(strstr(error.text, "another host"));
	simt_free(machine, word);
	assert_int_equal(simt_import(machine, &exported, &memory, NULL),
	                 -GN_ENOTSUP); /* nobody has it any more */
}

/* No file can be made; there is memory all the same. */
static void memory_that_cannot_be_exported_is_memory(void **state)
{
	struct simt_exported exported;
	struct rlimit limit, none;
	uint64_t *word;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	word = (uint64_t *)simt_alloc(machine, WORDS * sizeof *word, SIMT_EXPORTED, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_non_null(word);
	word[WORDS - 1] = 1;
	assert_int_equal(simt_export(machine, word, &exported, NULL), -GN_ENOTSUP);
	simt_free(machine, word);
}

int main(int count, char **argument)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_one_process_changes_the_other_sees),
	    cmocka_unit_test(it_stays_until_all_have_given_it_back),
	    cmocka_unit_test(only_what_was_exported_is_imported),
	    cmocka_unit_test(memory_that_cannot_be_exported_is_memory),
	};

	program = argument[0];
	return count > 1 ? add_there() : cmocka_run_group_tests(tests, set_up, tear_down);
}
