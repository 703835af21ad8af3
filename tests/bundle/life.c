/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/life-of-a-request.md tells the truth: its steps are those of a page that one thread reads through a
 * file store, in that order, and each is where it says. Usage: test_life SOURCE-FOLDER
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grapnel/grapnel.h>

enum { MOST = 64, NAME = 48, ELEMENTS = 1 << 16 };

struct steps {
	char name[MOST][NAME];
	uint64_t ns[MOST]; /* when it happened */
	unsigned count;
};

static struct steps happened;
static int listening;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(struct steps *s, const char *name)
{
	if (s->count < MOST) {
		s->ns[s->count] = simt_clock_ns();
		snprintf(s->name[s->count], NAME, "%s", name);
	}
	s->count++;
}

void gn_trace_note(const char *step)
{
	pthread_mutex_lock(&lock);
	if (listening)
		add(&happened, step);
	pthread_mutex_unlock(&lock);
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "life: %s: %s\n", what, why);
	exit(1);
}

/* ---- what happens ---- */

struct read_args {
	struct gn_array array;
	uint64_t index;
	uint32_t *seen; /* [2] */
};

/* A miss, then a hit of the same page. */
SIMT_FN void read_two(const struct read_args *a)
{
	a->seen[0] = gn_read_u32(&a->array, a->index);
	a->seen[1] = gn_read_u32(&a->array, a->index + 1);
}
SIMT_KERNEL(read_two, struct read_args)

static void write_file(const char *path)
{
	FILE *f = fopen(path, "wb");

	for (uint32_t k = 0; f && k < ELEMENTS; k++)
		fwrite(&k, sizeof k, 1, f);
	if (!f || fclose(f))
		fail(path, "cannot be written");
}

static void run(struct simt_machine *m, struct gn_store *store, struct gn_cache *cache)
{
	struct gn_array_options options = {GN_PAGED, cache, store, 0, ELEMENTS, 4};
	struct simt_grid one = {1, 1, 0};
	struct read_args a;
	struct gn_error e;

	if (gn_array_create(&a.array, m, &options, &e))
		fail("array", e.text);
	a.seen = (uint32_t *)simt_alloc(m, 2 * sizeof *a.seen, SIMT_PINNED, &e);
	/* The first page warms code and memory, the second is listened to. */
	for (a.index = 5000; a.index <= 50000; a.index += 45000) {
		listening = a.index == 50000;
		if (simt_launch(m, &read_two_kernel, one, &a, &e) || simt_wait(m, &e))
			fail("kernel", e.text);
		if (a.seen[0] != a.index || a.seen[1] != a.index + 1)
			fail("kernel", "read something else than the file holds");
	}
	listening = 0;
	simt_free(m, a.seen);
	gn_array_destroy(&a.array, m);
}

static void trace(void)
{
	static const char path[] = "life.bin";
	struct simt_options machine_options = {.name = "cpu", .threads = 1};
	struct gn_cache_options options = {.bytes = 64 << 10};
	struct simt_machine *m;
	struct gn_store *store;
	struct gn_cache *cache;
	struct gn_error e;

	write_file(path);
	if (simt_open(&m, &machine_options, &e))
		fail("machine", e.text);
	if (gn_store_open(&store, m, "file:life.bin?ro&queues=1", NULL, &e))
		fail("store", e.text);
	if (gn_cache_create(&cache, m, &store, 1, &options, &e))
		fail("cache", e.text);
	run(m, store, cache);
	gn_cache_destroy(cache);
	gn_store_close(store);
	simt_close(m);
	unlink(path);
}

/* ---- what the page says ---- */

/* Is text in the file of the source folder? */
static int file_has(const char *folder, const char *file, const char *text)
{
	char path[1024], line[1024];
	FILE *f;
	int found = 0;

	snprintf(path, sizeof path, "%s/%s", folder, file);
	f = fopen(path, "r");
	if (!f)
		fail(path, "the page names it, but it cannot be read");
	while (!found && fgets(line, sizeof line, f))
		found = strstr(line, text) != NULL;
	fclose(f);
	return found;
}

/* "Where: `file:function`": the function is there, and so is the step. */
static void check_place(const char *folder, const char *line, const char *step)
{
	char file[256], function[128], text[160];

	if (sscanf(line, "Where: `%255[^:]:%127[^`]`", file, function) != 2)
		fail(step, "its place is not written as `file:function`");
	snprintf(text, sizeof text, "%s(", function);
	if (!file_has(folder, file, text))
		fail(step, "the function is not in the file the page names");
	snprintf(text, sizeof text, "GN_TRACE(%s)", step);
	if (!file_has(folder, file, text))
		fail(step, "the step is not in the file the page names");
}

/* Steps are headings such as "### 3. `claim` - the page becomes ours". */
static void read_page(const char *folder, struct steps *told)
{
	char path[1024], line[1024], name[NAME];
	FILE *f;
	unsigned places = 0;

	snprintf(path, sizeof path, "%s/docs/life-of-a-request.md", folder);
	f = fopen(path, "r");
	if (!f)
		fail(path, "cannot be read");
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "### %*u. `%47[^`]`", name) == 1) {
			add(told, name);
		} else if (told->count && !strncmp(line, "Where:", 6)) {
			check_place(folder, line, told->name[told->count - 1]);
			places++;
		}
	}
	fclose(f);
	if (!told->count || places != told->count)
		fail(path, "has no steps, or steps without a place");
}

int main(int argc, char **argv)
{
	static struct steps told;
	int bad;

	if (argc != 2)
		fail("usage", "test_life SOURCE-FOLDER");
	read_page(argv[1], &told);
	trace();
	bad = told.count != happened.count || happened.count > MOST;
	for (unsigned k = 0; k < MOST && (k < told.count || k < happened.count); k++) {
		int same = !strcmp(told.name[k], happened.name[k]);

		bad |= !same;
		printf("%2u  %-12s %-12s %8lld ns %s\n", k + 1, told.name[k], happened.name[k],
		       k ? (long long)(happened.ns[k] - happened.ns[k - 1]) : 0LL, same ? "" : "differs");
	}
	return bad;
}
