/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_rows.cu - loads and stores over links, and everything between two GPUs: data goes from "from" to "to".
 */
#include "scope/cuda/rows.h"

namespace {

enum { LEAST = 256, PAGES = 4096 };

/* Host memory that a kernel reads or writes. */
constexpr struct scope_way host_read = scope_way_of(SCOPE_READ, SCOPE_PINNED, SCOPE_DEVICE);
constexpr struct scope_way host_write = scope_way_of(SCOPE_WRITE, SCOPE_DEVICE, SCOPE_PINNED);

/* From A's memory to B's, and the other way. */
constexpr struct scope_way there(enum scope_method m, uint8_t by)
{
	return scope_way{m, SCOPE_DEVICE, SCOPE_DEVICE, SCOPE_A, SCOPE_B, by, 1, true};
}

constexpr struct scope_way back(enum scope_method m, uint8_t by, uint8_t times = 1)
{
	return scope_way{m, SCOPE_DEVICE, SCOPE_DEVICE, SCOPE_B, SCOPE_A, by, times, times == 1};
}

constexpr struct scope_transfer_row one(const char *name, const char *summary, const char *paper,
                                        uint32_t flags, uint64_t least, struct scope_way way)
{
	return scope_transfer_make(name, summary, paper, "d2d", "nvlink", flags | SCOPE_COLD, least, way);
}

constexpr struct scope_transfer_row both(const char *name, const char *summary, const char *paper,
                                         uint32_t flags, struct scope_way a, struct scope_way b)
{
	return scope_transfer_make(name, summary, paper, "d2d-both", "nvlink",
	                           flags | SCOPE_COLD | SCOPE_WALL, PAGES, a, b, "there_bytes_per_second");
}

const struct scope_transfer_row rows[] = {
    scope_transfer_make("zero-copy/host-read",
                        "a kernel reads pinned memory, consecutive threads consecutive words", "13", "h2d",
                        "pcie", SCOPE_COLD | SCOPE_WIDTHS, PAGES, host_read),
    scope_transfer_make("zero-copy/host-write",
                        "a kernel writes pinned memory, consecutive threads consecutive words", "14", "d2h",
                        "pcie", SCOPE_COLD | SCOPE_WIDTHS, PAGES, host_write),
    scope_transfer_make("zero-copy/host-both",
                        "a kernel reads and another writes pinned memory at once: the sum", NULL, "both",
                        "pcie", SCOPE_COLD | SCOPE_WIDTHS, PAGES, host_read, host_write,
                        "to_device_bytes_per_second"),
    one("zero-copy/peer-read", "a kernel reads another GPU's memory", "15", SCOPE_PEERS | SCOPE_WIDTHS, PAGES,
        there(SCOPE_READ, SCOPE_B)),
    one("zero-copy/peer-write", "a kernel writes another GPU's memory", "15", SCOPE_PEERS | SCOPE_WIDTHS,
        PAGES, there(SCOPE_WRITE, SCOPE_A)),
    both("zero-copy/peer-both-read", "two GPUs read each other's memory at once: the sum", "16",
         SCOPE_PEERS | SCOPE_WIDTHS, there(SCOPE_READ, SCOPE_B), back(SCOPE_READ, SCOPE_A)),
    both("zero-copy/peer-both-write", "two GPUs write each other's memory at once: the sum", "16",
         SCOPE_PEERS | SCOPE_WIDTHS, there(SCOPE_WRITE, SCOPE_A), back(SCOPE_WRITE, SCOPE_B)),
    one("peer/copy", "cudaMemcpyAsync between GPUs with peer access, by the source", "17", SCOPE_PEERS, LEAST,
        there(SCOPE_COPY, SCOPE_A)),
    one("peer/copy-pulled", "cudaMemcpyAsync between GPUs with peer access, by the destination", "17",
        SCOPE_PEERS, LEAST, there(SCOPE_COPY, SCOPE_B)),
    both("peer/copy-both", "cudaMemcpyAsync both ways at once with peer access: the sum", "18", SCOPE_PEERS,
         there(SCOPE_COPY, SCOPE_A), back(SCOPE_COPY, SCOPE_B)),
    scope_transfer_make("peer/copy-both-there",
                        "cudaMemcpyAsync with peer access against twice as much the other way", "18", "d2d",
                        "nvlink", SCOPE_PEERS | SCOPE_COLD, PAGES, there(SCOPE_COPY, SCOPE_A),
                        back(SCOPE_COPY, SCOPE_B, 2)),
    one("peer/copy-peer-async", "cudaMemcpyPeerAsync with peer access", NULL, SCOPE_PEERS, LEAST,
        there(SCOPE_COPY_PEER, SCOPE_A)),
    one("peer/staged", "cudaMemcpyAsync between GPUs without peer access, called from a NUMA node", "19",
        SCOPE_NO_PEERS | SCOPE_UNGATED | SCOPE_NODES, PAGES, there(SCOPE_COPY, SCOPE_A)),
    both("peer/staged-both", "both ways without peer access, called from a NUMA node by one thread: the sum",
         "20", SCOPE_NO_PEERS | SCOPE_UNGATED | SCOPE_NODES, there(SCOPE_COPY, SCOPE_A),
         back(SCOPE_COPY, SCOPE_B)),
    one("peer/staged-peer-async", "cudaMemcpyPeerAsync without peer access", NULL,
        SCOPE_NO_PEERS | SCOPE_UNGATED, PAGES, there(SCOPE_COPY_PEER, SCOPE_A)),
    one("kernel/peer-read", "a copying kernel of the destination", NULL, SCOPE_PEERS, LEAST,
        there(SCOPE_COPY_KERNEL, SCOPE_B)),
    one("kernel/peer-write", "a copying kernel of the source", NULL, SCOPE_PEERS, LEAST,
        there(SCOPE_COPY_KERNEL, SCOPE_A)),
    one("tma/peer-read", "a kernel of cp.async.bulk of the destination", NULL, SCOPE_PEERS | SCOPE_BULK,
        PAGES, there(SCOPE_COPY_BULK, SCOPE_B)),
    one("tma/peer-write", "a kernel of cp.async.bulk of the source", NULL, SCOPE_PEERS | SCOPE_BULK, PAGES,
        there(SCOPE_COPY_BULK, SCOPE_A)),
};

} // namespace

const struct scope_row_table scope_peers = {rows, sizeof *rows, sizeof rows / sizeof *rows};
