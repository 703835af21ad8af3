/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a job's vertices in a store of its own: --state, --state-cache and --state-page. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache_report.h"
#include "graph_job.h"

enum { OPT_STATE = 0x500, OPT_STATE_CACHE, OPT_STATE_PAGE };

static const struct argp_option options[] = {
    {"state", OPT_STATE, "KIND", 0,
     "where the job keeps what it knows of each vertex: device (the machine's own memory), or, for graphs "
     "with more vertices than fit there, behind a cache in host memory (host) or in a temporary file (file) "
     "(default device)"},
    {"state-cache", OPT_STATE_CACHE, "SIZE", 0,
     "with --state host or file: bytes of its cache (default one eighth of the state)"},
    {"state-page", OPT_STATE_PAGE, "SIZE", 0,
     "bytes of a page of that cache, a power of two from 512 to 2M (default as suits the store)"},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const kinds[] = {"device", "host", "file", NULL};
	struct graph_options *o = (struct graph_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = o; return 0;
	case OPT_STATE:
		o->state.kind = (enum graph_state_kind)tool_word(state, "--state", arg, kinds);
		if (o->state.kind)
			o->far.said = "--state";
		return 0;
	case OPT_STATE_CACHE: o->state.cache_bytes = tool_size(state, "--state-cache", arg, 1); return 0;
	case OPT_STATE_PAGE: o->state.page_bytes = tool_page(state, "--state-page", arg); return 0;
	case ARGP_KEY_END:
		if (!o->state.kind && (o->state.cache_bytes || o->state.page_bytes))
			argp_error(state, "--state-cache and --state-page are of the cache that --state host "
			                  "and --state file have; give one of these too");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse, NULL, NULL, graph_options_child};

const struct argp_child graph_state_child[] = {{&argp}, {0}};

/* ---- the store ---- */

/* A file of so many bytes that has no name any more as soon as it is open. */
static int open_file(struct gn_state_place *place, struct simt_machine *machine,
                     const struct graph_options *o, uint64_t bytes, struct gn_error *e)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd, rc = 0;

	snprintf(path, sizeof path, "%s/grapnel-state-XXXXXX", folder && *folder ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		rc = gn_error_set(e, -GN_EACCES,
		                  "%s: %s; set TMPDIR to a folder with %llu bytes of space for the state of "
		                  "the vertices",
		                  path, strerror(errno), (unsigned long long)bytes);
	if (!rc)
		rc = tool_far_open(&place->store, machine, &o->far, o->subcommand, o->machine.name, "file",
		                   path, "", o->state.page_bytes, e);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return rc;
}

/* Not tool_far_memory: --store, and a drive there, are for the graph. */
static int open_host(struct gn_state_place *place, struct simt_machine *machine, uint64_t bytes,
                     struct gn_error *e)
{
	char uri[40];

	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)bytes);
	return gn_store_open(&place->store, machine, uri, NULL, e);
}

static uint64_t cache_bytes(const struct graph_state_options *o, uint64_t bytes)
{
	const uint64_t least = 16ull * (o->page_bytes ? o->page_bytes : 4096);

	if (o->cache_bytes)
		return o->cache_bytes;
	return bytes / 8 < least ? least : bytes / 8;
}

int graph_state_open(struct gn_state_place *place, struct simt_machine *machine,
                     const struct graph_options *o, uint64_t vertices, struct gn_error *e)
{
	const uint64_t bytes = gn_state_place_bytes(vertices, o->state.vertex_bytes);
	struct gn_cache_options c = {0};
	int rc;

	if (o->state.kind == GRAPH_STATE_DEVICE)
		return 0;
	rc = o->state.kind == GRAPH_STATE_FILE ? open_file(place, machine, o, bytes, e)
	                                       : open_host(place, machine, bytes, e);
	if (rc)
		return rc;
	c.bytes = cache_bytes(&o->state, vertices * o->state.vertex_bytes);
	c.page_bytes = o->state.page_bytes;
	c.policy = o->far.policy;
	c.statistics = 1;
	rc = gn_cache_create(&place->cache, machine, &place->store, 1, &c, e);
	return gn_error_prefix(e, rc, "--state-cache"); /* the graph has a cache too */
}

void graph_state_close(struct gn_state_place *place)
{
	if (place->cache)
		gn_cache_destroy(place->cache);
	gn_store_close(place->store);
}

/* ---- what is said ---- */

static const char *store_name(const struct graph_report *r)
{
	return r->options->state.kind == GRAPH_STATE_FILE ? "file" : "host";
}

static uint64_t bytes_of(const struct graph_report *r)
{
	return r->input->vertices * r->options->state.vertex_bytes;
}

void graph_state_print(const struct graph_report *r, FILE *to)
{
	const struct gn_cache_statistics *c = &r->state_cache.statistics;
	const double mib = 1 << 20;

	if (r->options->state.kind == GRAPH_STATE_DEVICE)
		return;
	fprintf(to,
	        "  state                %.1f MiB, %s; a cache of %.1f MiB in pages of %u bytes, hit rate "
	        "%.2f %%, %.1f MiB fetched, %.1f MiB written back\n",
	        (double)bytes_of(r) / mib, store_name(r), (double)r->state_cache.frame_bytes / mib,
	        r->state_cache.page_bytes, 100 * tool_cache_hit_rate(c), (double)c->fetched_bytes / mib,
	        (double)c->written_bytes / mib);
}

json_t *graph_state_json(const struct graph_report *r)
{
	if (r->options->state.kind == GRAPH_STATE_DEVICE)
		return json_null();
	return json_pack("{s:s, s:I, s:o, s:o}", "store", store_name(r), "bytes", (json_int_t)bytes_of(r),
	                 "cache", tool_cache_json(&r->state_cache, r->options->far.policy), "counters",
	                 tool_cache_counters(&r->state_cache));
}
