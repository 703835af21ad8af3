/* SPDX-License-Identifier: Apache-2.0 */
#include "far.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_STORE = 0x300,
	OPT_CACHE,
	OPT_PAGE,
	OPT_POLICY,
	OPT_DEADLINE,
	OPT_BASELINE,
	OPT_OVERWRITE,
	OPT_CACHE_ON
};

static const struct argp_option options[] = {
    {"store", OPT_STORE, "KIND", 0,
     "where the data is stored: host (memory) or file (default file for Grapnel's own formats, else host); "
     "for a graph also nvme:ADDRESS or nvme:ADDRESS?ns=N, a drive, or rdma://HOST/NAME, what grapnel serve "
     "lends there, onto which it is copied first (--overwrite), or peer:GPUS, the memory of other GPUs, "
     "such as peer:1 or peer:0+1, or stripe:URI,URI, replica:URI,URI or tier:FAST,SLOW, which has the file "
     "already (grapnel store write) or gets it (--overwrite)"},
    {"overwrite", OPT_OVERWRITE, NULL, 0,
     "with --store nvme, rdma, stripe, replica or tier: copy the graph there; what the store holds is lost. "
     "Without it a drive or region is refused, and a stripe, replica or tier must have the file"},
    {"cache", OPT_CACHE, "SIZE", 0, "bytes of cache, for example 64M (default one eighth of the data)"},
    {"cache-on", OPT_CACHE_ON, "GPUS", 0,
     "GPUs whose memory has the cache, such as 1 or 0+1 (default the machine's own)"},
    {"page", OPT_PAGE, "SIZE", 0,
     "bytes of a page, a power of two from 512 to 2M (default as tuned, else 4K)"},
    {"policy", OPT_POLICY, "NAME", 0,
     "how the cache chooses the page to evict: clock, fifo or random (default clock)"},
    {"deadline", OPT_DEADLINE, "MS", 0,
     "milliseconds after which a transfer fails, 1 to 3600000 (default 10000)"},
    {"baseline", OPT_BASELINE, "NAME", 0,
     "run what this is compared with: the same kernels without a cache, on data in the machine's own memory "
     "(incore), in pinned host memory (zerocopy), in CUDA's managed memory, on cpu a mapped file (managed), "
     "or in tiles that are copied to the machine and back (tiled: add, mvt, atax, bicg and stencil)"},
    {0},
};

static const char *const baselines[] = {"incore", "zerocopy", "managed", "tiled", NULL};

const char *tool_baseline_name(enum tool_baseline baseline)
{
	return baseline == TOOL_OURS ? NULL : baselines[baseline - 1];
}

void tool_far_refuse_tiles(const struct tool_far *far, const struct argp_state *state)
{
	if (far->baseline == TOOL_TILED)
		argp_error(state,
		           "--baseline tiled is for add, mvt, atax, bicg and stencil, which read arrays in "
		           "order: what this job reads is not known before; give incore, zerocopy or "
		           "managed");
}

/* Is the store one over several others? */
static bool is_set(const char *store)
{
	return !strncmp(store, "stripe:", 7) || !strncmp(store, "replica:", 8) || !strncmp(store, "tier:", 5);
}

/* Is it memory, zero at first? */
static bool is_peer(const char *store)
{
	return !strncmp(store, "peer:", 5);
}

/* Is it named by a whole URI? */
static bool is_uri(const char *store)
{
	return !strncmp(store, "nvme:", 5) || !strncmp(store, "rdma:", 5) || is_peer(store) || is_set(store);
}

char *tool_store_uri(const char *store, uint64_t bytes)
{
	const size_t room = strlen(store) + 32;
	char *uri = (char *)malloc(room);
	const int is_sized = !is_peer(store) || strstr(store, "size=");

	if (!uri)
		return NULL;
	snprintf(uri, room, "%s", store);
	if (!is_sized)
		snprintf(uri + strlen(uri), 32, "%csize=%llu", strchr(store, '?') ? '&' : '?',
		         (unsigned long long)bytes);
	return uri;
}

static void check_together(const struct tool_far *o, const struct argp_state *state)
{
	if (o->store && is_uri(o->store) && !is_peer(o->store) && !is_set(o->store) && !o->overwrite)
		argp_error(state,
		           "--store %s copies the data there, and what is there is lost; give --overwrite if "
		           "that may be",
		           o->store);
	if (o->baseline && o->said)
		argp_error(state, "--baseline %s says where the data is and how it is read; leave %s out",
		           tool_baseline_name(o->baseline), o->said);
}

static const char *store_of(const struct tool_far *o, const char *text, const struct argp_state *state)
{
	static const char *const stores[] = {"host", "file", NULL};

	if (o->drives && is_uri(text))
		return text;
	if (o->drives && strcmp(text, "host") != 0 && strcmp(text, "file") != 0)
		argp_error(
		    state,
		    "--store %s: give host, file, or the URI of an nvme:, rdma:, peer:, stripe:, replica: or "
		    "tier: store",
		    text);
	return stores[tool_word(state, "--store", text, stores)];
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tool_far *o = (struct tool_far *)state->input;

	switch (key) {
	case OPT_STORE:
		o->store = store_of(o, arg, state);
		o->said = "--store";
		return 0;
	case OPT_CACHE:
		o->cache_bytes = tool_size(state, "--cache", arg, 1);
		o->said = "--cache";
		return 0;
	case OPT_CACHE_ON:
		o->cache_on = arg;
		o->said = "--cache-on";
		return 0;
	case OPT_PAGE:
		o->page_bytes = tool_page(state, "--page", arg);
		o->said = "--page";
		return 0;
	case OPT_POLICY:
		o->policy = (enum gn_cache_policy)tool_word(state, "--policy", arg, tool_policies);
		o->said = "--policy";
		return 0;
	case OPT_OVERWRITE: o->overwrite = true; return 0;
	case OPT_BASELINE:
		o->baseline = (enum tool_baseline)(1 + tool_word(state, "--baseline", arg, baselines));
		return 0;
	case ARGP_KEY_END: check_together(o, state); return 0;
	case OPT_DEADLINE:
		o->deadline_ms = tool_number(state, "--deadline", arg, 1, 3600000);
		o->said = "--deadline";
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

const struct argp tool_far_argp = {options, parse};

uint64_t tool_far_cache_bytes(const struct tool_far *far, uint64_t data_bytes)
{
	const uint64_t least = 16ull * far->page_bytes;

	if (far->cache_bytes)
		return far->cache_bytes;
	return data_bytes / 8 < least ? least : data_bytes / 8;
}

struct gn_cache_options tool_far_cache_options(const struct tool_far *far, uint64_t data_bytes)
{
	struct gn_cache_options c = {0};

	c.page_bytes = far->page_bytes;
	c.bytes = tool_far_cache_bytes(far, data_bytes);
	c.policy = far->policy;
	c.statistics = 1;
	c.peers = far->cache_on;
	return c;
}

/* A path inside a URI: what would end it is escaped, and ./ keeps host: from taking it for a size. */
static char *uri_of(const char *scheme, const char *path, const char *query)
{
	char *uri = (char *)malloc(strlen(scheme) + 3 * strlen(path) + strlen(query) + 5), *to = uri;

	if (!uri)
		return NULL;
	to += sprintf(to, "%s:%s", scheme, *path == '/' ? "" : "./");
	for (; *path; path++) {
		if (*path == '%' || *path == '?')
			to += sprintf(to, "%%%02X", (unsigned)*path);
		else
			*to++ = *path;
	}
	sprintf(to, "?%s", query);
	return uri;
}

const char *tool_far_file_query(const struct tool_far *far)
{
	switch (far->baseline) {
	case TOOL_INCORE: return "ro&memory=device";
	case TOOL_ZEROCOPY:
	case TOOL_TILED: return "ro&memory=pinned";
	case TOOL_MANAGED: return "ro&memory=read-mostly";
	default: return "ro";
	}
}

bool tool_far_is_drive(const struct tool_far *far)
{
	return far->store && !far->baseline && is_uri(far->store);
}

bool tool_far_is_memory(const struct tool_far *far)
{
	return !far->store || !strcmp(far->store, "host") || is_peer(far->store);
}

bool tool_far_is_there(const struct tool_far *far)
{
	return tool_far_is_drive(far) && is_set(far->store) && !far->overwrite;
}

/* The drive, region or set of --store, if it has so many bytes. */
static int open_drive(struct gn_store **store, struct simt_machine *machine, const struct tool_far *far,
                      uint64_t bytes, int read_only, struct gn_error *e)
{
	struct gn_store_options how = {0};
	char *uri = tool_store_uri(far->store, bytes);
	uint64_t has;
	int rc;

	how.read_only = read_only;
	how.timeout_ns = far->deadline_ms * 1000000;
	if (far->page_bytes > 64 << 10)
		how.transfer_bytes = far->page_bytes;
	rc = uri ? gn_store_open(store, machine, uri, &how, e)
	         : gn_error_set(e, -GN_ENOMEM, "%s: out of memory", far->store);
	free(uri);
	if (rc)
		return rc;
	has = gn_store_view_of(*store)->capacity_bytes;
	if (bytes <= has)
		return 0;
	gn_store_close(*store);
	*store = NULL;
	return gn_error_set(e, -GN_ENOSPC, "%s: the data has %llu bytes, the store %llu; take a larger one",
	                    far->store, (unsigned long long)bytes, (unsigned long long)has);
}

int tool_far_there(struct gn_store **store, struct simt_machine *machine, const struct tool_far *far,
                   uint64_t bytes, struct gn_error *e)
{
	return open_drive(store, machine, far, bytes, 1, e);
}

int tool_far_memory(struct gn_store **store, struct simt_machine *machine, const struct tool_far *far,
                    uint64_t bytes, bool written, struct gn_error *e)
{
	const char *kind = far->baseline == TOOL_INCORE    ? "device"
	                   : far->baseline != TOOL_MANAGED ? "pinned"
	                   : written                       ? "managed"
	                                                   : "read-mostly";
	char uri[64];

	if (tool_far_is_there(far))
		return gn_error_set(e, -GN_EINVAL,
		                    "--store %s without --overwrite needs a .gng file whose bytes the store "
		                    "has, and no other order; give --overwrite to copy the graph there",
		                    far->store);
	if (tool_far_is_drive(far))
		return open_drive(store, machine, far, bytes, 0, e);
	snprintf(uri, sizeof uri, "host:%llu?memory=%s", (unsigned long long)bytes, kind);
	return gn_store_open(store, machine, uri, NULL, e);
}

int tool_far_open(struct gn_store **store, struct simt_machine *machine, const struct tool_far *far,
                  const char *subcommand, const char *machine_name, const char *scheme, const char *path,
                  const char *query, uint32_t transfer_bytes, struct gn_error *e)
{
	char *uri = uri_of(scheme, path, query);
	struct gn_store_options how = {0};
	int rc;

	how.timeout_ns = far->deadline_ms * 1000000;
	how.transfer_bytes = transfer_bytes;
	if (!strcmp(scheme, "file"))
		tool_tuned_defaults(subcommand, machine_name, NULL, &how.queue_count, &how.queue_depth);
	rc = uri ? gn_store_open(store, machine, uri, &how, e)
	         : gn_error_set(e, -GN_ENOMEM, "%s: out of memory", path);
	free(uri);
	return rc;
}

void tool_baseline_print(enum tool_baseline baseline, double load_seconds, FILE *to)
{
	if (baseline)
		fprintf(to, "  baseline             %s; the data was there after %.3f s\n",
		        tool_baseline_name(baseline), load_seconds);
}

json_t *tool_baseline_json(enum tool_baseline baseline, double load_seconds)
{
	json_t *seconds = baseline ? json_real(load_seconds) : json_null();

	return json_pack("{s:s?, s:o}", "baseline", tool_baseline_name(baseline), "load_seconds", seconds);
}
