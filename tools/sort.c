/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel sort: keys in their order, more of them than the cache or the machine's memory holds. */
#include "sort/sort.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "far_job.h"
#include "graph/io.h"
#include "spread/mix.h"

enum { OPT_DATA = 0x200, OPT_COUNT, OPT_KEYS, OPT_TYPE, OPT_MEMORY, OPT_OUT, OPT_VERIFY };

enum keys { UNIFORM, SKEWED, SORTED, REVERSED, EQUAL };

/* The stores: the keys, the result, the runs. Generated keys may be overwritten: the first two are one. */
enum { FROM, TO, RUNS };

struct request {
	struct far_options far;
	const char *data; /* NULL: generated */
	uint64_t count;
	unsigned keys; /* enum keys */
	bool has_keys;
	enum gn_sort_type type;
	uint32_t key_bytes;
	uint64_t memory_bytes; /* 0: a quarter of the machine's */
	uint64_t bytes;        /* of all keys */
};

struct job {
	struct far_job far;
	struct request *request;
	struct gn_sort sort;
	unsigned store[3];         /* of FROM, TO and RUNS */
	struct gn_array *array[3]; /* those that are open, in the order of their opening */
	unsigned arrays;
	struct gn_sort_result result;
};

static const char *const type_names[] = {"u32", "u64", "i32", "i64", "f32", "f64", NULL};
static const char *const keys_names[] = {"uniform", "skewed", "sorted", "reversed", "equal", NULL};

static const uint64_t piece = 4 << 20;     /* bytes that are checked at a time */
static const uint64_t compared = 64 << 20; /* up to so many bytes of keys qsort is asked too */

static const struct argp_option options[] = {
    {"data", OPT_DATA, "FILE", 0, "sort the keys in FILE, little-endian, one behind the other"},
    {"count", OPT_COUNT, "N", 0, "sort N generated keys"},
    {"keys", OPT_KEYS, "KIND", 0,
     "generated keys: uniform, skewed (as many with each number of bits), sorted, reversed or equal "
     "(default uniform)"},
    {"type", OPT_TYPE, "TYPE", 0, "of a key: u32, u64, i32, i64, f32 or f64 (default u32)"},
    {"memory", OPT_MEMORY, "SIZE", 0,
     "memory of the machine for keys: half of it for those that are sorted at once, half to sort them "
     "(default a quarter of what the machine has)"},
    {"out", OPT_OUT, "FILE", 0, "write the sorted keys to FILE, little-endian"},
    {"verify", OPT_VERIFY, NULL, 0,
     "check that the keys are in order, and the same as before; up to 64 MiB of them are compared with "
     "what qsort gives"},
    {0},
};

static void check_together(struct request *q, const struct argp_state *state)
{
	if (!q->data && !q->count)
		argp_error(state, "no keys; give --data FILE, or --count");
	if (q->data && (q->count || q->has_keys))
		argp_error(state, "--data %s: --count and --keys are for generated keys", q->data);
	tool_own_file(state, "--json", q->far.json, q->data);
	tool_far_refuse_tiles(&q->far.far, state);
	q->key_bytes = gn_sort_key_bytes(q->type);
	q->bytes = q->count * q->key_bytes;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->far; return 0;
	case OPT_DATA: q->data = arg; return 0;
	case OPT_COUNT: q->count = tool_number(state, "--count", arg, 1, 1ull << 56); return 0;
	case OPT_KEYS:
		q->keys = tool_word(state, "--keys", arg, keys_names);
		q->has_keys = true;
		return 0;
	case OPT_TYPE: q->type = (enum gn_sort_type)tool_word(state, "--type", arg, type_names); return 0;
	case OPT_MEMORY: q->memory_bytes = tool_size(state, "--memory", arg, 1); return 0;
	case OPT_OUT: q->far.out = arg; return 0;
	case OPT_VERIFY: q->far.verify = true; return 0;
	case ARGP_KEY_END: check_together(q, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const char about[] =
    "Sort keys in a store, smallest first, and write them to a store. More keys than the machine's memory "
    "holds are sorted in runs, which are cut into buckets: each key is read and written twice. The threads "
    "of the machine fetch and write their pages themselves.\vThe time ends when all keys are in the store. "
    "-0 is before 0, and what is no number is behind the infinity of its sign.\n\nExit status: 0 success, "
    "1 the run failed, 2 the command line is wrong.";

static const struct argp argp = {options, parse, NULL, about, far_options_child};

/* ---- the keys ---- */

/* The bits of a key. Sorted and reversed ones are so only while they have no sign bit. */
static uint64_t key_of(const struct request *q, uint64_t i)
{
	const unsigned bits = 8 * q->key_bytes;
	const uint64_t x = spread_mix(spread_mix(q->far.seed) + i);

	switch (q->keys) {
	case SKEWED: return x >> (64 - bits) >> spread_mix(x) % bits;
	case SORTED: return i;
	case REVERSED: return q->count - 1 - i;
	case EQUAL: return spread_mix(q->far.seed);
	default: return x;
	}
}

static void make_keys(const void *user, uint64_t at, uint64_t bytes, void *to)
{
	const struct request *q = (const struct request *)user;

	for (uint64_t k = 0; k < bytes / q->key_bytes; k++) {
		const uint64_t key = key_of(q, at / q->key_bytes + k);

		memcpy((char *)to + k * q->key_bytes, &key, q->key_bytes);
	}
}

/* ---- the run ---- */

/* The size of the file says how many keys there are. */
static int count_keys(struct request *q, struct gn_error *e)
{
	struct stat st;

	if (!q->data)
		return 0;
	if (stat(q->data, &st))
		return gn_error_set(e, -GN_ENOENT, "%s: %s", q->data, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return gn_error_set(e, -GN_EINVAL, "%s: is not a file; give one that holds keys", q->data);
	q->bytes = (uint64_t)st.st_size;
	q->count = q->bytes / q->key_bytes;
	if (q->count && q->bytes % q->key_bytes == 0)
		return 0;
	if (!q->bytes)
		return gn_error_set(e, -GN_EINVAL, "%s: is empty; give a file that holds keys", q->data);
	return gn_error_set(e, -GN_EINVAL, "%s: has %llu bytes, which are no whole number of %s keys",
	                    q->data, (unsigned long long)q->bytes, type_names[q->type]);
}

/* Managed memory may take seven eighths of a device (grapnel/store.h); the sort's own must fit beside
 * it. */
static int plan(struct job *j, struct request *q, struct gn_error *e)
{
	struct simt_info info;
	uint64_t share = 4;

	simt_describe(j->far.machine, &info);
	if (q->far.far.baseline == TOOL_MANAGED && info.is_cuda)
		share = 16;
	if (!q->memory_bytes)
		q->memory_bytes = info.memory_bytes / share;
	if (share > 4 && q->memory_bytes > info.memory_bytes / share)
		return gn_error_set(
		    e, -GN_EINVAL,
		    "--memory %llu: beside managed memory at most %llu bytes are left; give less",
		    (unsigned long long)q->memory_bytes, (unsigned long long)(info.memory_bytes / share));
	return gn_sort_plan_make(&j->sort.plan, q->count, q->key_bytes, q->memory_bytes,
	                         q->far.mode == GN_DIRECT ? 0 : q->far.far.page_bytes, e);
}

static int open_store(struct job *j, const struct request *q, unsigned use, struct gn_error *e)
{
	j->store[use] = j->far.stores;
	return far_job_store(&j->far, use == FROM ? q->data : NULL, q->bytes, use != FROM || !q->data,
	                     "a file of these keys", e);
}

static int open_stores(struct job *j, const struct request *q, struct gn_error *e)
{
	int rc = open_store(j, q, FROM, e);

	if (!rc && !q->data)
		rc = far_job_fill(&j->far, 0, make_keys, q, e);
	if (!rc && q->data)
		rc = open_store(j, q, TO, e);
	if (!rc && j->sort.plan.runs > 1)
		rc = open_store(j, q, RUNS, e);
	return rc ? rc : far_job_ready(&j->far, e);
}

static int open_array(struct job *j, const struct request *q, unsigned use, struct gn_array *array,
                      struct gn_error *e)
{
	const int rc = far_job_array(&j->far, j->store[use], q->count, q->key_bytes, array, e);

	if (!rc)
		j->array[j->arrays++] = array;
	return rc;
}

/* The options are completed here: how many keys a file has, and what memory there is. */
static int open_job(struct far_job *far, struct gn_error *e)
{
	struct job *j = (struct job *)far;
	struct request *q = j->request;
	int rc = count_keys(q, e);

	if (!rc)
		rc = plan(j, q, e);
	if (!rc)
		rc = open_stores(j, q, e);
	if (!rc)
		rc = open_array(j, q, FROM, &j->sort.from, e);
	if (!rc)
		rc = open_array(j, q, TO, &j->sort.to, e);
	if (!rc && j->sort.plan.runs > 1)
		rc = open_array(j, q, RUNS, &j->sort.runs, e);
	j->sort.cache = j->far.cache;
	j->sort.type = q->type;
	return rc;
}

static void close_job(struct far_job *far)
{
	struct job *j = (struct job *)far;

	while (j->arrays)
		gn_array_destroy(j->array[--j->arrays], far->machine);
}

static int run(struct far_job *far, struct far_report *r, struct gn_error *e)
{
	struct job *j = (struct job *)far;
	const uint64_t bytes = j->request->bytes;
	const double begin = tool_seconds();
	int rc = gn_sort_run(j->far.machine, &j->sort, &j->result, e);

	if (!rc && j->far.cache)
		rc = gn_cache_flush(j->far.cache, e);
	r->seconds = tool_seconds() - begin;
	r->needed_bytes = (j->sort.plan.runs > 1 ? 4 : 2) * bytes;
	r->proof = bytes <= compared ? "all keys are where qsort puts them"
	                             : "all keys are in order, and the same as before";
	return rc;
}

/* ---- the verifier ---- */

static int read_data(const char *path, uint64_t at, uint64_t bytes, void *to, struct gn_error *e)
{
	uint64_t file_bytes;
	int fd, rc = gn__input_open(path, &fd, &file_bytes, e);

	if (rc)
		return rc;
	rc = gn__input_read(fd, path, at, to, bytes, e);
	close(fd);
	return rc;
}

/* Bytes [at, at + bytes) of the keys as they were, from where they came: a store may have changed them. */
static int read_input(const struct request *q, uint64_t at, uint64_t bytes, void *to, struct gn_error *e)
{
	if (q->data)
		return read_data(q->data, at, bytes, to, e);
	make_keys(q, at, bytes, to);
	return 0;
}

static int read_output(struct job *j, uint64_t at, uint64_t bytes, void *to, struct gn_error *e)
{
	return gn_store_read_host(j->far.store[j->store[TO]], at, to, bytes, e);
}

/* A piece of the result: not below the last key of the piece before, which is read again. */
static int check_order(struct job *j, const struct request *q, uint64_t at, uint64_t bytes, char *buffer,
                       struct gn_error *e)
{
	const uint64_t before = at ? q->key_bytes : 0, count = (before + bytes) / q->key_bytes;
	const int rc = read_output(j, at - before, before + bytes, buffer, e);
	uint64_t first;

	if (rc)
		return rc;
	first = gn_sort_first_below(q->type, buffer, count);
	if (first == count)
		return 0;
	return gn_error_set(e, -GN_EBADMSG, "key %llu is below the one before it",
	                    (unsigned long long)((at - before) / q->key_bytes + first));
}

/* All keys in order, and as a set the same as before. */
static int check_set(struct job *j, const struct request *q, char *buffer, struct gn_error *e)
{
	struct gn_sort_sum was = {0, 0, 0}, is = {0, 0, 0};
	int rc = 0;

	for (uint64_t at = 0; at < q->bytes && !rc; at += piece) {
		const uint64_t bytes = q->bytes - at < piece ? q->bytes - at : piece;

		rc = check_order(j, q, at, bytes, buffer, e);
		if (!rc)
			gn_sort_sum_add(&is, q->type, buffer + (at ? q->key_bytes : 0), bytes / q->key_bytes);
		if (!rc)
			rc = read_input(q, at, bytes, buffer, e);
		if (!rc)
			gn_sort_sum_add(&was, q->type, buffer, bytes / q->key_bytes);
	}
	if (!rc && (was.keys != is.keys || was.sum != is.sum || was.mixed != is.mixed))
		rc = gn_error_set(e, -GN_EBADMSG, "the sorted keys are not those that were to be sorted");
	return rc;
}

/* What qsort makes of the keys is what the store has. */
static int check_qsort(struct job *j, const struct request *q, char *want, char *got, struct gn_error *e)
{
	uint64_t k = 0;
	int rc = read_input(q, 0, q->bytes, want, e);

	if (!rc)
		rc = read_output(j, 0, q->bytes, got, e);
	if (rc)
		return rc;
	qsort(want, q->count, q->key_bytes, gn_sort_compare(q->type));
	if (!memcmp(want, got, q->bytes))
		return 0;
	while (want[k] == got[k])
		k++;
	return gn_error_set(e, -GN_EBADMSG, "key %llu is not the one that qsort puts there",
	                    (unsigned long long)(k / q->key_bytes));
}

static int verify(struct far_job *far, struct gn_error *e)
{
	struct job *j = (struct job *)far;
	const struct request *q = j->request;
	const bool all = q->bytes <= compared;
	const uint64_t bytes = all && q->bytes > piece ? q->bytes : piece;
	char *want = (char *)malloc(bytes), *got = (char *)malloc(bytes + sizeof(uint64_t));
	int rc = want && got ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory for the comparison");

	if (!rc)
		rc = check_set(j, q, got, e);
	if (!rc && all)
		rc = check_qsort(j, q, want, got, e);
	free(want);
	free(got);
	return rc;
}

/* ---- what is said ---- */

static int write_out(struct far_job *far, struct gn_error *e)
{
	return far_job_write(far, ((struct job *)far)->store[TO], far->options->out, e);
}

static json_t *report_json(const struct far_job *far)
{
	const struct job *j = (const struct job *)far;
	const struct request *q = j->request;

	return json_pack("{s:s, s:{s:I, s:s, s:I, s:s}, s:I, s:I, s:I, s:f}", "schema", "grapnel-sort-1",
	                 "keys", "count", (json_int_t)q->count, "type", type_names[q->type], "bytes",
	                 (json_int_t)q->bytes, "kind", q->data ? "file" : keys_names[q->keys], "memory_bytes",
	                 (json_int_t)q->memory_bytes, "runs", (json_int_t)j->sort.plan.runs, "buckets",
	                 (json_int_t)j->result.buckets, "sort_seconds", j->result.sort_seconds);
}

static void print(const struct far_job *far)
{
	const struct job *j = (const struct job *)far;
	const struct request *q = j->request;

	printf("  keys                 %llu %s of type %s, %.1f MiB\n", (unsigned long long)q->count,
	       q->data ? "from a file" : keys_names[q->keys], type_names[q->type],
	       (double)q->bytes / (1 << 20));
	printf("  runs, buckets        %llu, %llu\n", (unsigned long long)j->sort.plan.runs,
	       (unsigned long long)j->result.buckets);
	printf("  sorts in memory      %.3f s of the time\n", j->result.sort_seconds);
}

static const struct far_command command = {open_job, run, verify, write_out, report_json, print, close_job};

int tool_sort(int argc, char **argv)
{
	struct request q = {0};
	struct job job = {0};

	far_options_init(&q.far, "sort");
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	job.request = &q;
	return far_command_run(&command, &q.far, &job.far);
}
