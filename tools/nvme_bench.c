/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel nvme bench: how many transfers a second the threads of a kernel get out of a namespace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grapnel/store.h>

#include "nvme.h"
#include "nvme_reads.h"

enum { OPT_NS = 512, OPT_BLOCK, OPT_COUNT, OPT_QUEUES, OPT_DEPTH, OPT_GRID };

struct bench {
	const char *address;
	uint32_t nsid, block, queues, depth, threads;
	uint64_t count;
	struct simt_options machine;
};

static const struct argp_option options[] = {
    {"ns", OPT_NS, "N", 0, "namespace (default 1)"},
    {"block", OPT_BLOCK, "SIZE", 0, "bytes of a transfer, a power of two (default 4K)"},
    {"count", OPT_COUNT, "N", 0, "transfers (default 100000)"},
    {"in-flight", OPT_GRID, "N", 0, "threads of the kernel, each with one transfer (default 256)"},
    {"queues", OPT_QUEUES, "N", 0, "queue pairs (default: one a processor)"},
    {"depth", OPT_DEPTH, "N", 0, "entries of a queue, a power of two (default 256)"},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct bench *b = (struct bench *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &b->machine; return 0;
	case OPT_NS: b->nsid = (uint32_t)tool_number(state, "--ns", text, 1, 0xfffffffe); return 0;
	case OPT_BLOCK: b->block = tool_page(state, "--block", text); return 0;
	case OPT_COUNT: b->count = tool_number(state, "--count", text, 1, UINT64_MAX >> 1); return 0;
	case OPT_QUEUES: b->queues = (uint32_t)tool_number(state, "--queues", text, 1, 1024); return 0;
	case OPT_DEPTH: b->depth = (uint32_t)tool_number(state, "--depth", text, 2, 32768); return 0;
	case OPT_GRID: b->threads = (uint32_t)tool_number(state, "--in-flight", text, 1, 1 << 20); return 0;
	case ARGP_KEY_ARG: tool_argument(state, &b->address, "address", text); return 0;
	case ARGP_KEY_END:
		nvme_need_address(state, b->address);
		if (b->depth & (b->depth - 1))
			argp_error(state, "--depth=%u: not a power of two", b->depth);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options, parse, "ADDRESS",
    "Read random blocks of a namespace of a drive that vfio-pci has, each by a thread of a kernel that posts "
    "its own commands, and print the rate.",
    tool_machine_child};

static int measure(const struct bench *b, struct simt_machine *machine, struct nvme_reads *a,
                   struct gn_error *e)
{
	const uint32_t width = 64;
	struct simt_grid grid = {(b->threads + width - 1) / width, width, 0};
	uint64_t failed = 0;
	double began = tool_seconds(), seconds;
	int rc = simt_launch(machine, &nvme_read_blocks_kernel, grid, a, e);

	rc = rc ? rc : simt_wait(machine, e);
	if (rc)
		return rc;
	seconds = tool_seconds() - began;
	rc = simt_move(machine, &failed, a->failed, sizeof failed, e);
	if (rc)
		return rc;
	if (failed)
		return gn_error_set(e, -GN_EIO,
		                    "%llu of %llu transfers failed; grapnel nvme identify says "
		                    "whether the controller is well",
		                    (unsigned long long)failed, (unsigned long long)a->count);
	printf("%llu reads of %u bytes in %.3f s: %.0f a second, %.1f MB/s\n", (unsigned long long)a->count,
	       a->block, seconds, (double)a->count / seconds, (double)a->count * a->block / seconds / 1e6);
	return 0;
}

/* What the drive says that it did, and what went wrong. */
static void tell(const struct gn_store *store)
{
	struct gn_store_statistics s;

	gn_store_get_statistics(store, &s);
	printf("by the drive's count: %llu reads, %.1f MB; time-outs %llu, aborts %llu, resets %llu\n",
	       (unsigned long long)s.reads, (double)s.read_bytes / 1e6,
	       (unsigned long long)(s.read_timeouts + s.write_timeouts), (unsigned long long)s.aborts,
	       (unsigned long long)s.resets);
}

static int run(const struct bench *b, struct simt_machine *machine, struct gn_store *store,
               struct gn_error *e)
{
	struct nvme_reads a;
	size_t threads = ((size_t)b->threads + 63) / 64 * 64;
	int rc;

	memset(&a, 0, sizeof a);
	a.store = *gn_store_view_of(store);
	a.count = b->count;
	a.block = b->block;
	a.blocks = a.store.capacity_bytes / b->block;
	if (b->block % a.store.block_bytes || b->block > a.store.transfer_bytes || !a.blocks)
		return gn_error_set(e, -GN_EINVAL,
		                    "transfers of %u bytes are not possible: the blocks have %u "
		                    "bytes and the largest transfer %u",
		                    b->block, a.store.block_bytes, a.store.transfer_bytes);
	a.memory = (char *)simt_alloc(machine, threads * b->block, SIMT_DEVICE, e);
	a.failed = (uint64_t *)simt_alloc(machine, sizeof *a.failed, SIMT_DEVICE, e);
	printf("%s\n", gn_store_path(store));
	rc = a.memory && a.failed ? measure(b, machine, &a, e)
	                          : gn_error_set(e, -GN_ENOMEM, "out of memory; give fewer --in-flight");
	simt_free(machine, a.memory);
	simt_free(machine, a.failed);
	if (!rc)
		tell(store);
	return rc;
}

int tool_nvme_bench(int argc, char **argv)
{
	struct bench b;
	struct gn_store_options o;
	struct simt_machine *machine = NULL;
	struct gn_store *store = NULL;
	struct gn_error e = {0, ""};
	char uri[80];
	int rc;

	memset(&b, 0, sizeof b);
	memset(&o, 0, sizeof o);
	b.nsid = 1;
	b.machine.name = "cpu";
	b.block = 4096;
	b.count = 100000;
	b.threads = 256;
	argp_parse(&argp, argc, argv, 0, NULL, &b);
	snprintf(uri, sizeof uri, "nvme:%.40s?ns=%u&ro", b.address, b.nsid);
	o.queue_count = b.queues;
	o.queue_depth = b.depth;
	rc = simt_open(&machine, &b.machine, &e);
	rc = rc ? rc : gn_store_open(&store, machine, uri, &o, &e);
	rc = rc ? rc : run(&b, machine, store, &e);
	gn_store_close(store);
	if (machine)
		simt_close(machine);
	return rc ? tool_fail("nvme bench", &e) : TOOL_OK;
}
