/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a job over far arrays, and what the job holds while it runs. */
#include "far_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache_report.h"
#include "graph/io.h"

enum { OPT_MODE = 256, OPT_SEED, OPT_JSON };

static const struct argp_option options[] = {
    {"mode", OPT_MODE, "MODE", 0,
     "paged: through a cache; direct: loads from the store's memory (default paged)"},
    {"json", OPT_JSON, "FILE", 0,
     "write the report to FILE as JSON; - is standard output, and then no table is printed"},
    {0},
};

void far_options_init(struct far_options *o, const char *subcommand)
{
	o->subcommand = subcommand;
	o->machine.name = "cpu";
	o->seed = 1;
}

/* Is the data in a file? */
static bool in_file(const struct far_options *o)
{
	return o->far.store && !strcmp(o->far.store, "file");
}

static void set_defaults(struct far_options *o)
{
	if (o->mode == GN_PAGED)
		tool_tuned_defaults(o->subcommand, o->machine.name, &o->far.page_bytes, NULL, NULL);
	if (!o->far.page_bytes)
		o->far.page_bytes = 4096;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const modes[] = {"paged", "direct", NULL};
	struct far_options *o = (struct far_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->machine;
		state->child_inputs[1] = &o->far;
		return 0;
	case OPT_MODE:
		o->mode = tool_word(state, "--mode", arg, modes) ? GN_DIRECT : GN_PAGED;
		o->far.said = "--mode";
		return 0;
	case OPT_JSON: o->json = arg; return 0;
	case ARGP_KEY_END:
		tool_own_file(state, "--json", o->json, o->out);
		if (o->far.baseline)
			o->mode = GN_DIRECT;
		if (o->mode == GN_DIRECT && in_file(o))
			argp_error(state, "--mode direct needs --store host: threads cannot load from a "
			                  "file without a cache");
		return 0;
	case ARGP_KEY_SUCCESS: set_defaults(o); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_machine_argp}, {&tool_far_argp}, {0}};

static const struct argp argp = {options, parse, NULL, NULL, children};

const struct argp_child far_read_child[] = {{&argp}, {0}};

static const struct argp_option seed_options[] = {
    {"seed", OPT_SEED, "N", 0, "seed of generated data (default 1)"},
    {0},
};

static error_t parse_seed(int key, char *arg, struct argp_state *state)
{
	struct far_options *o = (struct far_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = o; return 0;
	case OPT_SEED: o->seed = tool_number(state, "--seed", arg, 0, UINT64_MAX); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp seed_argp = {seed_options, parse_seed, NULL, NULL, far_read_child};

const struct argp_child far_options_child[] = {{&seed_argp}, {0}};

/* ---- stores ---- */

static int open_path(struct far_job *j, const char *scheme, const char *path, const char *how,
                     struct gn_error *e)
{
	const struct far_options *o = j->options;

	return tool_far_open(&j->store[j->stores], j->machine, &o->far, o->subcommand, o->machine.name,
	                     scheme, path, how, o->far.page_bytes, e);
}

/* A block store needs a file: one that has no name any more as soon as it is open. */
static int open_temporary(struct far_job *j, uint64_t bytes, struct gn_error *e)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd, rc;

	snprintf(path, sizeof path, "%s/grapnel-XXXXXX", folder && *folder ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return gn_error_set(e, -GN_EACCES,
		                    "%s: %s; set TMPDIR to a folder with enough space for the data", path,
		                    strerror(errno));
	rc = ftruncate(fd, (off_t)bytes)
	         ? gn_error_set(e, -GN_ENOSPC,
	                        "%s: %llu bytes: %s; set TMPDIR to a folder that takes such a file", path,
	                        (unsigned long long)bytes, strerror(errno))
	         : 0;
	close(fd);
	if (!rc)
		rc = open_path(j, "file", path, "", e);
	unlink(path);
	return rc;
}

static int check_size(const char *path, uint64_t bytes, const char *what, struct gn_error *e)
{
	struct stat st;

	if (stat(path, &st))
		return gn_error_set(e, -GN_ENOENT, "%s: %s", path, strerror(errno));
	if ((uint64_t)st.st_size == bytes)
		return 0;
	return gn_error_set(e, -GN_EINVAL, "%s: has %llu bytes, but %s has %llu", path,
	                    (unsigned long long)st.st_size, what, (unsigned long long)bytes);
}

static int open_new(struct far_job *j, uint64_t bytes, bool written, struct gn_error *e)
{
	const struct tool_far *far = &j->options->far;

	return in_file(j->options)
	           ? open_temporary(j, bytes, e)
	           : tool_far_memory(&j->store[j->stores], j->machine, far, bytes, written, e);
}

int far_job_store(struct far_job *j, const char *path, uint64_t bytes, bool written, const char *what,
                  struct gn_error *e)
{
	int rc = path ? check_size(path, bytes, what, e) : 0;
	const double begin = tool_seconds();

	if (!rc)
		rc = path ? open_path(j, in_file(j->options) ? "file" : "host", path,
		                      tool_far_file_query(&j->options->far), e)
		          : open_new(j, bytes, written, e);
	j->load_seconds += tool_seconds() - begin;
	if (rc)
		return rc;
	j->stores++;
	j->bytes += bytes;
	return 0;
}

static int write_piece(struct far_job *j, unsigned store, uint64_t at, const void *from, uint64_t bytes,
                       struct gn_error *e)
{
	const double begin = tool_seconds();
	const int rc = gn_store_write_host(j->store[store], at, from, bytes, e);

	j->load_seconds += tool_seconds() - begin;
	return rc;
}

int far_job_fill(struct far_job *j, unsigned store,
                 void (*make)(const void *user, uint64_t at, uint64_t bytes, void *to), const void *user,
                 struct gn_error *e)
{
	const uint64_t all = gn_store_view_of(j->store[store])->capacity_bytes, piece = 4 << 20;
	void *buffer = malloc(piece);
	int rc = buffer ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory");

	for (uint64_t at = 0; at < all && !rc; at += piece) {
		const uint64_t bytes = all - at < piece ? all - at : piece;

		make(user, at, bytes, buffer);
		rc = write_piece(j, store, at, buffer, bytes, e);
		gn_progress_step(&j->progress, "generating", at, all);
	}
	free(buffer);
	return rc;
}

static int copy_out(struct far_job *j, unsigned store, struct gn_output *out, uint64_t all,
                    struct gn_error *e)
{
	const uint64_t piece = 4 << 20;
	void *buffer = malloc(piece);
	int rc = buffer ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory");

	for (uint64_t at = 0; at < all && !rc; at += piece) {
		const uint64_t bytes = all - at < piece ? all - at : piece;

		rc = gn_store_read_host(j->store[store], at, buffer, bytes, e);
		if (!rc)
			rc = gn__output_write(out, buffer, bytes, e);
	}
	free(buffer);
	return rc;
}

int far_job_write(struct far_job *j, unsigned store, const char *path, struct gn_error *e)
{
	const uint64_t all = gn_store_view_of(j->store[store])->capacity_bytes;
	struct gn_output out;
	int rc = gn__output_begin(&out, path, all, e);

	if (rc)
		return rc;
	rc = copy_out(j, store, &out, all, e);
	if (!rc)
		return gn__output_end(&out, e);
	gn__output_drop(&out);
	return rc;
}

/* ---- the job ---- */

static void close_job(struct far_job *j)
{
	if (j->cache)
		gn_cache_destroy(j->cache);
	while (j->stores)
		gn_store_close(j->store[--j->stores]);
	if (j->machine)
		simt_close(j->machine);
}

/* Managed memory begins in host memory. */
static int settle(struct far_job *j, struct gn_error *e)
{
	const double begin = tool_seconds();
	int rc = 0;

	for (unsigned k = 0; k < j->stores && !rc; k++)
		rc = gn_store_flush(j->store[k], e);
	j->load_seconds += tool_seconds() - begin;
	return rc;
}

int far_job_ready(struct far_job *j, struct gn_error *e)
{
	const struct far_options *o = j->options;
	const struct gn_cache_options c = tool_far_cache_options(&o->far, j->bytes);

	if (o->mode == GN_DIRECT)
		return settle(j, e);
	return gn_cache_create(&j->cache, j->machine, j->store, j->stores, &c, e);
}

int far_job_array(struct far_job *j, unsigned store, uint64_t count, uint32_t element_bytes,
                  struct gn_array *array, struct gn_error *e)
{
	const struct gn_array_options a = {j->options->mode, j->cache, j->store[store], 0, count,
	                                   element_bytes};

	return gn_array_create(array, j->machine, &a, e);
}

uint64_t far_job_tile(uint64_t rows, uint64_t row_bytes)
{
	const uint64_t most = ((uint64_t)16 << 20) / row_bytes, share = rows / 8;
	const uint64_t tile = share < most ? share : most;

	return tile ? tile : 1;
}

/* ---- the report ---- */

static void describe(const struct far_job *j, struct far_report *r)
{
	r->options = j->options;
	r->data_bytes = j->bytes;
	r->load_seconds = j->load_seconds;
	simt_describe(j->machine, &r->machine);
	if (j->cache)
		gn_cache_describe(j->cache, &r->cache, NULL);
	snprintf(r->path, sizeof r->path, "%s (%u processors, warps of %u), %s, %s", r->machine.name,
	         r->machine.processors, r->machine.warp_width, j->cache ? "paged" : "direct",
	         gn_store_path(j->store[0]));
}

/* Between the cache and the stores. */
static uint64_t moved_bytes(const struct far_report *r)
{
	return r->cache.statistics.fetched_bytes + r->cache.statistics.written_bytes;
}

static double bandwidth(const struct far_report *r)
{
	return r->seconds > 0 ? (double)r->needed_bytes / r->seconds : 0;
}

/* The table's last lines; what the job says comes before them. */
static void print_report(const struct far_report *r, FILE *to)
{
	const double mib = 1 << 20;

	fprintf(to, "  time                 %.3f s, %.3f GB/s of what is needed\n", r->seconds,
	        bandwidth(r) / 1e9);
	fprintf(to, "  needed               %.1f MiB\n", (double)r->needed_bytes / mib);
	if (r->cache.frames) {
		tool_cache_print(&r->cache, r->options->far.policy, to);
		fprintf(to, "  bytes moved/needed   %.2f\n",
		        (double)moved_bytes(r) / (double)r->needed_bytes);
	}
	fprintf(to, "  path                 %s\n", r->path);
	tool_baseline_print(r->options->far.baseline, r->load_seconds, to);
	if (r->verified >= 0)
		fprintf(to, "  verified             %s\n", r->verified ? r->proof : "NO");
}

/* Behind the job's own members: those that every job has. Takes root over; NULL stays NULL. */
static json_t *join_report(json_t *root, const struct far_report *r)
{
	const bool paged = r->cache.frames;
	json_t *rest =
	    json_pack("{s:o, s:s, s:f, s:f, s:I, s:I, s:o, s:o, s:o, s:s, s:o}", "machine",
	              tool_json_machine(&r->machine), "mode", paged ? "paged" : "direct", "seconds",
	              r->seconds, "bytes_per_second", bandwidth(r), "data_bytes", (json_int_t)r->data_bytes,
	              "needed_bytes", (json_int_t)r->needed_bytes, "moved_bytes",
	              paged ? json_integer((json_int_t)moved_bytes(r)) : json_null(), "cache",
	              paged ? tool_cache_json(&r->cache, r->options->far.policy) : json_null(), "counters",
	              paged ? tool_cache_counters(&r->cache) : json_null(), "path", r->path, "verified",
	              r->verified < 0 ? json_null() : json_boolean(r->verified));
	json_t *baseline = tool_baseline_json(r->options->far.baseline, r->load_seconds);

	return tool_json_join(root, tool_json_join(rest, baseline));
}

/* ---- the subcommand ---- */

static int run(const struct far_command *c, struct far_job *j, struct far_report *r, struct gn_error *e)
{
	int rc = tool_can_write(j->options->out, e);

	if (!rc)
		rc = tool_can_write(j->options->json, e);
	if (!rc)
		rc = simt_open(&j->machine, &j->options->machine, e);
	if (!rc)
		rc = c->open(j, e);
	if (!rc)
		rc = c->run(j, r, e);
	if (rc)
		return rc;
	describe(j, r);
	if (!j->options->verify)
		return 0;
	rc = c->verify(j, e);
	r->verified = !rc;
	return rc;
}

/* The table is printed even if a file could not be written: the work is done. */
static int finish(const struct far_command *c, struct far_job *j, const struct far_report *r,
                  struct gn_error *e)
{
	const struct far_options *o = j->options;
	int rc = o->out ? c->write(j, e) : 0;

	if (!rc && o->json)
		rc = tool_write_json(join_report(c->report(j), r), o->json, e);
	if (tool_to_stdout(o->json))
		return rc;
	c->print(j);
	print_report(r, stdout);
	return rc;
}

int far_command_run(const struct far_command *c, const struct far_options *o, struct far_job *j)
{
	struct far_report report = {0};
	struct gn_error e = {0};
	struct tool_bar bar;
	int rc;

	report.verified = -1;
	j->options = o;
	j->progress = tool_bar_begin(&bar);
	rc = run(c, j, &report, &e);
	tool_bar_end(&bar);
	if (!rc)
		rc = finish(c, j, &report, &e);
	c->close(j);
	close_job(j);
	return rc ? tool_fail(o->subcommand, &e) : TOOL_OK;
}
