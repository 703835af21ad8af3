/* SPDX-License-Identifier: Apache-2.0 */
#include "scope_sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* Only what a report says of a row matters here. */
#define ROW(name, paper, direction, limit, second, unit, timer)                               \
	{                                                                                     \
		name, "a row of the test", paper, direction, limit, second, unit, timer, NULL \
	}

static const struct scope_row pinned_in =
    ROW("copy/pinned-to-device", "10", "h2d", "pcie", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS);
static const struct scope_row pinned_out =
    ROW("copy/device-to-pinned", "11", "d2h", "pcie", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS);
static const struct scope_row by_kernel =
    ROW("kernel/pinned-to-device", NULL, "h2d", "pcie", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS);
static const struct scope_row pinned_both = ROW("copy/pinned-both", "12", "both", "pcie",
                                                "to_device_bytes_per_second", SCOPE_BANDWIDTH, SCOPE_EVENTS);
static const struct scope_row pageable_in =
    ROW("copy/pageable-to-device", "4", "h2d", "pcie", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS);
static const struct scope_row zero_in =
    ROW("zero-copy/host-read", "13", "h2d", "pcie", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS);
static const struct scope_row peer =
    ROW("peer/copy", "17", "d2d", "nvlink", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS);
static const struct scope_row chase =
    ROW("latency/host-memory", NULL, "none", "pcie", NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK);
static const struct scope_row loaded =
    ROW("latency/loaded", NULL, "none", "pcie", "load_bytes_per_second", SCOPE_LATENCY, SCOPE_DEVICE_CLOCK);
static const struct scope_row doorbell =
    ROW("doorbell/write", NULL, "none", NULL, NULL, SCOPE_RATE, SCOPE_DEVICE_CLOCK);
static const struct scope_row fence =
    ROW("doorbell/fence", NULL, "none", NULL, NULL, SCOPE_RATE, SCOPE_DEVICE_CLOCK);
static const struct scope_row copy =
    ROW("memory/copy", NULL, "h2h", "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK);
static const struct scope_row flushed =
    ROW("memory/copy-flushed", NULL, "h2h", "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK);
static const struct scope_row nodes =
    ROW("memory/read-nodes", NULL, "none", "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK);
static const struct scope_row uring =
    ROW("file/uring-direct", NULL, "none", "disk", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK);
static const struct scope_row page_in =
    ROW("grapnel-gpu/page-in", NULL, "h2d", "pcie", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK);
static const struct scope_row miss =
    ROW("grapnel-gpu/miss", NULL, "h2d", "pcie", NULL, SCOPE_LATENCY, SCOPE_HOST_CLOCK);
static const struct scope_row hit =
    ROW("grapnel-gpu/hit-random", NULL, "none", "memory", NULL, SCOPE_RATE, SCOPE_HOST_CLOCK);
static const struct scope_row gather =
    ROW("grapnel-gpu/gather-plain", NULL, "h2d", "pcie", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK);

void sample_open(struct sample *s)
{
	memset(s, 0, sizeof *s);
	s->report.result = s->result;
	s->report.context = json_object();
	s->random = 1;
}

void sample_close(struct sample *s)
{
	for (uint32_t k = 0; k < s->report.results; k++) {
		free(s->result[k].value);
		free(s->result[k].second);
		free(s->result[k].seconds);
	}
	json_decref(s->report.context);
}

double sample_random(struct sample *s)
{
	s->random = s->random * 6364136223846793005u + 1442695040888963407u;
	return (double)(s->random >> 40) / (double)(1 << 24);
}

void expect_near(double value, double want, double within)
{
	if (!(fabs(value - want) <= within))
		fail_msg("%.17g is not %.17g within %g", value, want, within);
}

static struct scope_result *next(struct sample *s, const struct scope_row *row, const struct scope_arg *args)
{
	struct scope_result *r = &s->result[s->report.results++];

	if (s->report.results > SAMPLE_CELLS)
		abort();
	r->cell.row = row;
	for (; args && args->name; args++)
		r->cell.arg[r->cell.args++] = *args;
	return r;
}

struct scope_result *sample_add(struct sample *s, const struct scope_row *row, const struct scope_arg *args,
                                double value, double noise, uint32_t samples)
{
	struct scope_result *r = next(s, row, args);

	r->samples = r->end[0] = samples;
	r->rounds = 1;
	r->operations = 16;
	r->value = (double *)calloc(samples, sizeof *r->value);
	r->seconds = (double *)calloc(samples, sizeof *r->seconds);
	r->second = row->second ? (double *)calloc(samples, sizeof *r->second) : NULL;
	r->bytes = row->unit == SCOPE_BANDWIDTH ? 16 * scope_cell_arg(&r->cell, "bytes", 4096) : 0;
	for (uint32_t k = 0; k < samples; k++) {
		r->value[k] = value * (1 + noise * (2 * sample_random(s) - 1));
		r->seconds[k] = row->unit == SCOPE_BANDWIDTH ? (double)r->bytes / 16 / r->value[k]
		                : row->unit == SCOPE_RATE    ? 1 / r->value[k]
		                                             : r->value[k];
	}
	return r;
}

void sample_fail(struct sample *s, const struct scope_row *row, const struct scope_arg *args,
                 enum scope_status status, const char *why)
{
	struct scope_result *r = next(s, row, args);

	r->status = status;
	snprintf(r->why, sizeof r->why, "%s", why);
}

/* ---- the machine ---- */

/* Time of a transfer: what it takes to begin, and its bytes at the link's rate. */
static void sizes(struct sample *s, const struct scope_row *row, double start, double rate)
{
	for (unsigned k = 12; k <= 30; k += 2) {
		const struct scope_arg args[] = {{"bytes", 1ull << k}, {NULL, 0}};
		const double bytes = (double)(1ull << k);

		struct scope_result *r = sample_add(s, row, args, bytes / (start + bytes / rate), 0.004, 20);

		for (uint32_t n = 0; r->second && n < r->samples; n++)
			r->second[n] = r->value[n] / 2;
	}
}

static void fill_links(struct sample *s)
{
	sizes(s, &pinned_in, 2.5e-6, 55.4e9);
	sizes(s, &pinned_out, 2.5e-6, 55.4e9);
	sizes(s, &pinned_both, 3e-6, 99e9);
	sizes(s, &pageable_in, 4e-6, 11e9);
	sizes(s, &zero_in, 1.2e-6, 51.2e9);
	sizes(s, &by_kernel, 1.2e-6, 51.2e9);
	for (uint64_t pair = 0; pair < 2; pair++) {
		const struct scope_arg args[] = {
		    {"bytes", 1 << 28}, {"from", pair}, {"to", 1 - pair}, {NULL, 0}};

		sample_add(s, &peer, args, pair ? 391e9 : 397e9, 0.002, 20);
	}
}

static void fill_latencies(struct sample *s)
{
	for (unsigned k = 20; k <= 33; k++) {
		const struct scope_arg span[] = {{"span", 1ull << k}, {NULL, 0}};

		sample_add(s, &chase, span, k <= 29 ? 1.33e-6 : k == 30 ? 1.9e-6 : 2.4e-6, 0.01, 15);
	}
	for (uint64_t k = 1; k <= 8; k++) {
		const struct scope_arg load[] = {{"blocks", k}, {NULL, 0}};
		const double share = (double)k / 8.5;
		struct scope_result *r = sample_add(s, &loaded, load, 1.3e-6 / (1 - share), 0.02, 15);

		for (uint32_t n = 0; n < r->samples; n++)
			r->second[n] = 52e9 * share;
	}
	sample_add(s, &doorbell, NULL, 5.1e6, 0.02, 20);
	sample_add(s, &fence, NULL, 1.4e6, 0.02, 20);
}

static void fill_host(struct sample *s)
{
	static const double rates[] = {80e9, 60e9, 40e9, 12e9};

	for (unsigned k = 0; k < 4; k++) {
		const struct scope_arg args[] = {{"bytes", 1ull << (12 + 6 * k)}, {NULL, 0}};

		sample_add(s, &copy, args, rates[k], 0.01, 20);
		sample_add(s, &flushed, args, k == 2 ? rates[k] : 11e9, 0.001, 20);
	}
	for (uint64_t node = 0; node < 2; node++) {
		const struct scope_arg args[] = {{"bytes", 1 << 28}, {"node", node}, {NULL, 0}};

		sample_add(s, &nodes, args, node ? 60e9 : 100e9, 0.01, 20);
	}
}

/* What tune reckons with: figures of docs/scope-output.md's example. */
static void fill_grapnel(struct sample *s)
{
	static const uint64_t pages[] = {512, 1024, 4096, 16384, 65536}, depths[] = {1, 32, 256};
	static const double rates[] = {21e9, 40e9, 50e9, 51e9, 51.2e9}, reads[] = {40e6, 1000e6, 2000e6};

	for (unsigned k = 0; k < 5; k++)
		for (uint64_t warps = 1; warps <= 4096; warps *= 64) {
			const struct scope_arg args[] = {{"bytes", pages[k]}, {"warps", warps}, {NULL, 0}};

			sample_add(s, &page_in, args,
			           warps == 4096 ? rates[k] : rates[k] * (double)warps / 4096, 0.005, 12);
		}
	{
		const struct scope_arg page[] = {{"bytes", 4096}, {NULL, 0}},
		                       word[] = {{"bytes", 4}, {"span", 1ull << 34}, {NULL, 0}};
		const struct scope_arg line[] = {{"bytes", 128}, {"span", 1ull << 34}, {NULL, 0}};

		sample_add(s, &miss, page, 4e-6, 0.01, 12);
		sample_add(s, &hit, NULL, 15e9, 0.01, 12);
		sample_add(s, &gather, word, 4 * 41e6, 0.01, 12);
		sample_add(s, &gather, line, 5e9, 0.01, 12);
	}
	for (unsigned k = 0; k < 3; k++) {
		const struct scope_arg args[] = {{"bytes", 4096}, {"depth", depths[k]}, {NULL, 0}};

		sample_add(s, &uring, args, reads[k], 0.01, 12);
	}
}

static void fill_context(struct sample *s)
{
	const char *text = "{\"date\": \"2026-11-21T12:00:00+0000\", \"host_name\": \"sample\", "
	                   "\"num_cpus\": 16, \"mhz_per_cpu\": 2000,"
	                   "\"cpu_scaling_enabled\": false, \"load_avg\": [0.5, 0.4, 0.3], \"caches\": "
	                   "[{\"type\": \"Data\", \"level\": 1, \"size\": 49152},"
	                   "{\"type\": \"Unified\", \"level\": 3, \"size\": 33554432}], \"cpu\": {\"model\": "
	                   "\"A & B <processor>\"},"
	                   "\"memory\": {\"total_bytes\": 137438953472, \"free_bytes\": 1}, \"gpus\": ["
	                   "{\"name\": \"H200\", \"l2_bytes\": 62914560, \"pcie_generation\": 5, "
	                   "\"pcie_width\": 16, \"peer\": [false, true]},"
	                   "{\"name\": \"H200\", \"l2_bytes\": 62914560, \"pcie_generation\": 5, "
	                   "\"pcie_width\": 16, \"peer\": [true, false]}]}";

	json_decref(s->report.context);
	s->report.context = json_loads(text, 0, NULL);
}

void sample_fill(struct sample *s)
{
	const struct scope_arg four[] = {{"bytes", 1ull << 32}, {NULL, 0}};

	fill_context(s);
	fill_links(s);
	fill_latencies(s);
	fill_host(s);
	fill_grapnel(s);
	sample_fail(s, &zero_in, four, SCOPE_FAILED,
	            "byte 4096 of 4294967296 is 0x00, not 0x5a; \"<b>\" & 'so', on");
	sample_fail(s, &pinned_in, four, SCOPE_SKIPPED, "more than half of what is free");
}
