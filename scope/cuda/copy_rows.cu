/* SPDX-License-Identifier: Apache-2.0 */
/* copy_rows.cu - explicit copies between the host and one GPU, and within it. */
#include "scope/cuda/rows.h"

namespace {

enum { LEAST = 256, PAGES = 4096, LARGE = 1 << 16 };

constexpr struct scope_way copy(enum scope_kind from, enum scope_kind to)
{
	return scope_way_of(SCOPE_COPY, from, to);
}

/* Traffic in the other direction, which lasts longer than what is measured. */
constexpr struct scope_way against(enum scope_kind from, enum scope_kind to)
{
	return scope_way_of(SCOPE_COPY, from, to, 2);
}

constexpr struct scope_transfer_row in(const char *name, const char *summary, const char *paper,
                                       enum scope_kind host, uint32_t flags, uint64_t least)
{
	return scope_transfer_make(name, summary, paper, "h2d", "pcie", flags, least,
	                           copy(host, SCOPE_DEVICE));
}

constexpr struct scope_transfer_row out(const char *name, const char *summary, const char *paper,
                                        enum scope_kind host, uint32_t flags, uint64_t least)
{
	return scope_transfer_make(name, summary, paper, "d2h", "pcie", flags, least,
	                           copy(SCOPE_DEVICE, host));
}

constexpr struct scope_transfer_row both(const char *name, const char *summary, const char *paper,
                                         enum scope_kind host, uint32_t flags, uint64_t least)
{
	return scope_transfer_make(name, summary, paper, "both", "pcie", flags, least,
	                           copy(host, SCOPE_DEVICE), copy(SCOPE_DEVICE, host),
	                           "to_device_bytes_per_second");
}

const struct scope_transfer_row rows[] = {
    in("copy/pinned-to-device", "cudaMemcpyAsync from pinned memory", "10", SCOPE_PINNED, 0, LEAST),
    out("copy/device-to-pinned", "cudaMemcpyAsync to pinned memory", "11", SCOPE_PINNED, 0, LEAST),
    both("copy/pinned-both", "cudaMemcpyAsync in both directions at once, pinned: the sum", "12",
         SCOPE_PINNED, 0, LEAST),
    scope_transfer_make(
        "copy/pinned-both-in", "cudaMemcpyAsync from pinned memory against twice as much the other way", "12",
        "h2d", "pcie", 0, PAGES, copy(SCOPE_PINNED, SCOPE_DEVICE), against(SCOPE_DEVICE, SCOPE_PINNED)),
    scope_transfer_make(
        "copy/pinned-both-out", "cudaMemcpyAsync to pinned memory against twice as much the other way", "12",
        "d2h", "pcie", 0, PAGES, copy(SCOPE_DEVICE, SCOPE_PINNED), against(SCOPE_PINNED, SCOPE_DEVICE)),
    in("copy/pageable-to-device", "cudaMemcpyAsync from pageable memory, the host's part included", "4",
       SCOPE_PAGEABLE, SCOPE_UNGATED, LEAST),
    out("copy/device-to-pageable", "cudaMemcpyAsync to pageable memory, the host's part included", "5",
        SCOPE_PAGEABLE, SCOPE_UNGATED, LEAST),
    both("copy/pageable-both", "cudaMemcpyAsync in both directions, pageable, from one thread: the sum", "6",
         SCOPE_PAGEABLE, SCOPE_UNGATED, PAGES),
    in("copy/node-pinned-to-device", "from pinned memory of a NUMA node, called from there", "7",
       SCOPE_PINNED, SCOPE_NODES, PAGES),
    out("copy/device-to-node-pinned", "to pinned memory of a NUMA node, called from there", "8", SCOPE_PINNED,
        SCOPE_NODES, PAGES),
    both("copy/node-pinned-both", "both directions at once, pinned memory of a NUMA node: the sum", "9",
         SCOPE_PINNED, SCOPE_NODES, PAGES),
    in("copy/node-pageable-to-device", "from pageable memory of a NUMA node, called from there", "1",
       SCOPE_PAGEABLE, SCOPE_NODES | SCOPE_UNGATED, PAGES),
    out("copy/device-to-node-pageable", "to pageable memory of a NUMA node, called from there", "2",
        SCOPE_PAGEABLE, SCOPE_NODES | SCOPE_UNGATED, PAGES),
    both("copy/node-pageable-both",
         "both directions, pageable memory of a NUMA node, from one thread: the sum", "3", SCOPE_PAGEABLE,
         SCOPE_NODES | SCOPE_UNGATED, PAGES),
    in("copy/flushed-to-device", "from pinned memory that no cache of the host holds", NULL, SCOPE_PINNED,
       SCOPE_FLUSHED, PAGES),
    out("copy/device-to-flushed", "to pinned memory that no cache of the host holds", NULL, SCOPE_PINNED,
        SCOPE_FLUSHED, PAGES),
    in("copy/combined-to-device", "from write-combined memory", NULL, SCOPE_COMBINED, 0, PAGES),
    out("copy/device-to-combined", "to write-combined memory", NULL, SCOPE_COMBINED, 0, PAGES),
    in("copy/small-pages-to-device", "from registered memory of 4 KiB pages", NULL, SCOPE_SMALL, 0, LARGE),
    in("copy/large-pages-to-device", "from registered memory of transparent huge pages", NULL, SCOPE_LARGE, 0,
       LARGE),
    out("copy/device-to-small-pages", "to registered memory of 4 KiB pages", NULL, SCOPE_SMALL, 0, LARGE),
    out("copy/device-to-large-pages", "to registered memory of transparent huge pages", NULL, SCOPE_LARGE, 0,
        LARGE),
    in("copy/huge-pages-to-device", "from registered memory of reserved huge pages", NULL, SCOPE_HUGE, 0,
       LARGE),
    out("copy/device-to-huge-pages", "to registered memory of reserved huge pages", NULL, SCOPE_HUGE, 0,
        LARGE),
    scope_transfer_make("copy/batch-to-device", "one cudaMemcpyBatchAsync of many pieces of pinned memory",
                        NULL, "h2d", "pcie", 0, LEAST,
                        scope_way_of(SCOPE_COPY_BATCH, SCOPE_PINNED, SCOPE_DEVICE)),
    scope_transfer_make("copy/batch-to-pinned", "one cudaMemcpyBatchAsync of many pieces to pinned memory",
                        NULL, "d2h", "pcie", 0, LEAST,
                        scope_way_of(SCOPE_COPY_BATCH, SCOPE_DEVICE, SCOPE_PINNED)),
    scope_transfer_make("copy/device-local", "cudaMemcpyAsync within a GPU's memory: bytes copied", NULL,
                        "d2d", "memory", SCOPE_COLD, LEAST, copy(SCOPE_DEVICE, SCOPE_DEVICE)),
    scope_transfer_make("kernel/pinned-to-device", "a copying kernel from pinned memory", NULL, "h2d", "pcie",
                        SCOPE_COLD, LEAST, scope_way_of(SCOPE_COPY_KERNEL, SCOPE_PINNED, SCOPE_DEVICE)),
    scope_transfer_make("kernel/device-to-pinned", "a copying kernel to pinned memory", NULL, "d2h", "pcie",
                        SCOPE_COLD, LEAST, scope_way_of(SCOPE_COPY_KERNEL, SCOPE_DEVICE, SCOPE_PINNED)),
    scope_transfer_make("kernel/device-local", "a copying kernel within a GPU's memory: bytes copied", NULL,
                        "d2d", "memory", SCOPE_COLD, LEAST,
                        scope_way_of(SCOPE_COPY_KERNEL, SCOPE_DEVICE, SCOPE_DEVICE)),
    scope_transfer_make("kernel/device-read", "a kernel reads the GPU's own memory and adds up the words",
                        NULL, "none", "memory", SCOPE_COLD, PAGES,
                        scope_way_of(SCOPE_LOCAL_READ, SCOPE_DEVICE, SCOPE_DEVICE)),
    scope_transfer_make("kernel/device-write", "a kernel writes the GPU's own memory", NULL, "none", "memory",
                        SCOPE_COLD, PAGES, scope_way_of(SCOPE_LOCAL_WRITE, SCOPE_DEVICE, SCOPE_DEVICE)),
    scope_transfer_make("tma/pinned-to-device", "a kernel of cp.async.bulk from pinned memory", NULL, "h2d",
                        "pcie", SCOPE_COLD | SCOPE_BULK, PAGES,
                        scope_way_of(SCOPE_COPY_BULK, SCOPE_PINNED, SCOPE_DEVICE)),
    scope_transfer_make("tma/device-to-pinned", "a kernel of cp.async.bulk to pinned memory", NULL, "d2h",
                        "pcie", SCOPE_COLD | SCOPE_BULK, PAGES,
                        scope_way_of(SCOPE_COPY_BULK, SCOPE_DEVICE, SCOPE_PINNED)),
    scope_transfer_make("tma/device-local", "a kernel of cp.async.bulk within a GPU's memory: bytes copied",
                        NULL, "d2d", "memory", SCOPE_COLD | SCOPE_BULK, PAGES,
                        scope_way_of(SCOPE_COPY_BULK, SCOPE_DEVICE, SCOPE_DEVICE)),
};

} // namespace

const struct scope_row_table scope_copies = {rows, sizeof *rows, sizeof rows / sizeof *rows};
