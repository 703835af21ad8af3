/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - a store holds bytes: the host opens it by URI, and the threads of a kernel read and write it.
 *
 *   host:SIZE   `host:8G`        zeroed host memory (huge pages where the system has them)
 *   host:PATH   `host:/d/x.bin`  a file mapped into host memory
 *   file:PATH   `file:/d/x.bin`  a file behind NVMe queue pairs that a software controller serves
 *   memq:SIZE   `memq:64M`       zeroed memory behind the same queue pairs: to test and measure them
 *   nvme:PCI    `nvme:01:00.0`   a namespace of an NVMe drive, by its PCI address; kernels ring the doorbells
 *               of its controller, which this process drives through VFIO
 *   rdma:       `rdma://n7/data` the region `data` that `grapnel serve --rdma` lends on host n7: memory or a
 *               file, behind queue pairs that a software controller serves
 *   peer:GPUS   `peer:1?size=64G`  zeroed memory of another GPU of this machine
 *   stripe:URI,URI  `stripe:file:/d/x,file:/e/x`  the bytes of several stores behind queue pairs as one
 *   replica:URI,URI  `replica:state=/d/s,file:/d/x,file:/e/x`  the same bytes on each of several such stores
 *   tier:URI,URI  `tier:peer:1?size=16G,file:/d/x`  the bytes of the second store; the first, which is
 *               memory, keeps those that are used: a second level behind the caches
 *
 * Options follow a `?`, separated by `&`. For all stores: `ro` (read-only). For file: and host:PATH:
 * `create=SIZE` (make a file of that size, not 0, if it does not exist; an existing file is not changed). For
 * file: and memq: `queues=N`, `depth=N`, `timeout=MS`, `threads=N` (of the controller), `transfer=SIZE` (the
 * largest transfer, up to 2M, rounded up to a power of two of 4K or more; it must hold a page of the cache;
 * the default is 64K). For file: `direct=0|1` (O_DIRECT; by default it is used if the file system allows it)
 * and `io=uring|threads` (by default io_uring if it is permitted). In a path write `%3F` for `?` and `%25`
 * for a percent sign. `host:8G` is a size: for a file named 8G write `host:./8G`.
 *
 * For nvme: `ns=N` (the namespace; 1 by default), `ro`, `queues=N`, `depth=N`, `timeout=MS`, `transfer=SIZE`.
 * If the controller supports less, fewer queues and smaller depths and transfers are used. Linux must have
 * given the drive to vfio-pci (`grapnel nvme bind`), and the system needs an IOMMU. A drive can be open in
 * one store only. A command that times out is aborted; if that does not end it, the controller is reset and
 * the store goes on. A reset fails all commands under way, of all threads, with GN_NVME_HOST_ABORTED; they
 * are not tried again. If the drive is gone, or its controller reports a fatal error, every access fails with
 * that status. Any other failed command is tried twice more, unless its status forbids it. While a write that
 * timed out may still land, writes of the same blocks are refused: -GN_EBUSY.
 *
 * On a GPU the host neither aborts nor completes the commands of kernels: they end at their deadlines. If
 * such a command never completes, its slot is not used again until the store is closed. The host and the
 * kernels do not see each other's time-outs: after a write has timed out on one side, close the store before
 * you write these blocks from the other side.
 *
 * For rdma: `ro`, `queues=N`, `depth=N`, `timeout=MS`, `threads=N`, `transfer=SIZE`, and `flush=MS`, the most
 * that a server may take for a flush (10 minutes by default). Each queue pair has a connection of its own.
 * The library must have been built with librdmacm. If a connection is lost, its transfers
 * fail with GN_NVME_HOST_PATH and are not tried again. While an interrupted write may still land, all other
 * writes fail with that status, too. The store connects again, and goes on if the server still has all bytes
 * that were written. If it may have lost some, all accesses fail until the store is closed and opened again
 * (docs/rdma.md). Written bytes are in the server's file after gn_store_flush.
 *
 * For peer: `size=SIZE` (needed), `ro`, and for several GPUs, as in `peer:0+1?size=128G`, `unit=SIZE` (a
 * power of two from 2M to 1G; 32M by default): the first unit of the bytes lies on the first GPU named, the
 * second on the second, and so on in turn. Kernels load and store through NVLink. The machine's own
 * GPU may be one of them. Each GPU named and the machine's must reach each other, with atomics (`nvidia-smi
 * topo -p2p rwna`). gn_gather_rows of small rows in direct mode runs on the GPUs that have the rows
 * (gather.h). On the cpu machine the memory is the host's, and the numbers of GPUs are ignored. docs/peer.md
 * has more.
 *
 * For host: `memory=KIND` says which memory has the bytes. Kernels load from each kind in the same way.
 *
 *   pinned       host memory that the device reaches; the default of host:SIZE
 *   device       the device's own
 *   managed      CUDA's managed memory: pages move to the side that touches them. It begins in host memory.
 *                gn_store_flush brings it back there, and sets the device as its preferred location. All of
 *                a machine's managed memory must fit into 7/8 of the device's free memory: more is refused
 *   read-mostly  managed memory for which gn_store_flush sets CUDA's read-mostly advice: the device keeps
 *                copies of the pages that it reads
 *
 * With memory= a file is copied into memory of that kind, so it needs `ro`. On the cpu machine all kinds are
 * as pinned, except that with managed and read-mostly a file is mapped with MADV_RANDOM: the system fetches
 * each page when it is touched.
 *
 * A GPU can only read a mapped file: on a GPU host:PATH needs `ro`.
 *
 * A file has one writer. A store that opens it without `ro` locks it (flock(2), which other programs may use
 * too); a second such store, of this or another process, is refused: -GN_EBUSY. Stores with `ro` neither lock
 * the file nor are refused. They read old or new bytes while the file is written; a cache in front of them
 * does not notice the writes.
 *
 * file: takes room on the medium when bytes are written (its files are sparse). host:PATH without `ro` takes
 * room for the whole file when it is opened, because a write to a mapped page without room would end the
 * process; if there is no room, opening returns -GN_ENOSPC.
 *
 * If another program truncates an open file, reads of the missing bytes fail with GN_NVME_UNRECOVERED_READ
 * for file:; for host: the kernel ends the process (SIGBUS), as with any mapped file. No write makes a file
 * longer than it was when the store was opened. But a write to missing bytes of file:, also of a page that
 * the cache has, makes the file so much longer again, and the bytes between are then read as zeros.
 *
 * A stripe puts the first unit of its bytes on its first member, the second unit on the second, and so on
 * in turn. Kernels post to the queue pairs of the member that has the bytes, so the members' bandwidth adds
 * up. Commas separate members and the stripe's own options: `unit=SIZE` (a power of two from 4K to 1G; 64K
 * by default), `size=SIZE` (bytes to use of each member; without it all must have the same size) and `ro`
 * (for all members). Each member may have options of its own: `stripe:unit=1M,file:/a?direct=0,file:/b`. In
 * a path write `%2C` for a comma. struct gn_store_options holds for every member. No transfer and no page of
 * a cache crosses a unit. The place of a byte depends on the members, their order, unit and size. The stripe
 * keeps no record of them: give the same each time. docs/several-stores.md has more.
 *
 * A replica writes to all its members, and reads from one, which the offset chooses. If a member fails a
 * command in all its tries, or does not answer in time, it is out of use from then on (gn_store_get_member),
 * and another member reads the bytes. If the command was a read, the member still gets writes, and is read if
 * no other can be. The last member stays in use: its failures are those of the store. Options beside the
 * members are `ro`, `size=SIZE` as of a stripe, and `state=FILE`: a small file that says which members are up
 * to date. It is needed to write members that outlive the program. A member that missed a write, or could not
 * be opened, is not read again before gn_store_resync, or `grapnel store rebuild`, which also makes the first
 * state. A log beside the state, FILE.log, lists the regions that such a member missed, so that only those
 * are copied. If a program ended while it wrote, only the first member that is up to date is used; it has all
 * flushed bytes. timeout_ns of the view is the largest of the members', times their number.
 *
 * A tier has a fast level, `peer:GPUS?size=SIZE`, `host:SIZE` or `host:SIZE?memory=device`, and a slow store
 * of any kind but a tier: all that follows the first URI is the URI of the slow store. Options of the tier
 * come first, as in `tier:line=64K,peer:1?size=16G,file:/d/x?queues=8`: `line=SIZE`, the bytes that the fast
 * level keeps together (a power of two from 512 to 2M; 4K by default, or a block of the slow store if that is
 * larger), and `ro`. No transfer and no page of a cache crosses a line. Arrays and caches use a
 * tier as a store behind queue pairs: there is no direct mode. A write is in the fast level alone until its
 * line leaves, or until gn_store_flush or gn_store_close. A line that cannot be written stays in the fast
 * level and is tried again; gn_store_flush reports it. If there is no memory for the fast level, the store
 * opens without it (-GN_ENOMEM in gn_store_get_member) and is slower. Without memory for the words of its
 * lines, 8 bytes each, it is refused. timeout_ns of the view is four times the slow store's.
 *
 * Host memory is byte-addressable by the device: kernels load from it. Block stores move whole blocks
 * through queue pairs. The device functions hide the difference. docs/adding-a-store.md says how to
 * add a store.
 */
#ifndef GRAPNEL_STORE_H
#define GRAPNEL_STORE_H

#include <grapnel/error.h>
#include <grapnel/nvmeq.h>
#include <grapnel/simt.h>

/* How the device reaches a store. Device code switches over it. */
enum gn_store_kind {
	GN_STORE_MEMORY = 1, /* byte-addressable: loads and stores */
	GN_STORE_QUEUES = 2  /* blocks: NVMe queue pairs */
};

struct gn_store_health;
struct gn_tier_view; /* detail/store/tier.h */

/* What a kernel needs of a store. Plain data, passed to kernels by value inside a cache or an array. */
struct gn_store_view {
	uint32_t kind;           /* enum gn_store_kind */
	uint32_t block_bytes;    /* of a transfer: 16 for memory */
	uint64_t capacity_bytes; /* need not be a multiple of block_bytes */
	uint32_t read_only;
	uint32_t queue_count;
	uint64_t timeout_ns;     /* of one transfer */
	uint32_t transfer_bytes; /* GN_STORE_QUEUES: the largest transfer */
	uint32_t host_queues;    /* of the host alone; kernels look there for writes that may still land */
	char *memory; /* GN_STORE_MEMORY: device address; readable up to the next multiple of 4096 */
	const struct gn_nvmeq *queue; /* GN_STORE_QUEUES: [queue_count + host_queues], in device memory */
	/*
	 * How many members a stripe or replica has, each with queue pairs of its own: queue[members][...]. Of
	 * a tier: 2 and the members of its slow store; a tier has no queue pairs itself. 0: any other store.
	 */
	uint32_t members;
	uint32_t unit_log2; /* log2 of a stripe's bytes that lie together on a member, or of a tier's line */
	struct gn_store_health *health;  /* of a replica, in device memory; NULL for all others */
	const struct gn_tier_view *tier; /* of a tier, in device memory; NULL for all others */
};

/* A failed transfer: the library's code and what the device said. */
struct gn_store_status {
	int32_t code;    /* 0 or a negative code */
	uint32_t device; /* NVMe status field (nvme.h), 0 if the device said nothing */
};

enum { GN_STORE_MOST_MEMBERS = 32 };

/*
 * Which members of a replica are in use. Reads go to members whose bits are 0 in `failed` and in `turn`. A
 * member that failed a read is written as before, and read again only if no other can read the bytes. A
 * member that missed a write is neither read nor written. At least one bit stays 0 in each word.
 */
struct gn_store_health {
	uint32_t failed; /* bit k: member k failed a read */
	/* gn_store_resync copies 1 << window_log2 bytes at once, each thread 1 << piece_log2 of them. */
	uint16_t window_log2, piece_log2;
	/*
	 * Low half, bit k: member k is stale: it missed a write, or could not be opened. High half: the
	 * number of the stale member that is being put back, which is written but not read, and a count of
	 * all that were put back (detail/store/replica.h).
	 */
	uint64_t turn;
	uint64_t at; /* how far the copying is: 2 w before window w, 2 w + 1 in it; in the low bits */
	struct gn_store_status why[GN_STORE_MOST_MEMBERS]; /* the failure that put member k out of use */
	/*
	 * A bit for each region of 1 << region_log2 bytes, for `grapnel store rebuild`; NULL without a state.
	 * written: a write there has begun. missed: a member lacks a write there.
	 */
	uint32_t *written, *missed;
	uint32_t region_log2;
};

/* The largest transfer: a page of the cache is at most this. */
enum { GN_STORE_MAX_TRANSFER = 2 << 20 };

/* ---- host: open, close, read, write ---- */

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

struct gn_store;

/*
 * A plan of faults for a software controller, for tests. Each command draws a number and may get one of
 * these faults, with the given chances in parts per million. With all members zero there are no faults.
 */
struct gn_fault_plan {
	uint64_t seed;
	uint32_t delay_ppm; /* the completion comes delay_us later */
	uint32_t delay_us;
	uint32_t reorder_ppm;   /* the completion is held back until a few later ones have been posted */
	uint32_t drop_ppm;      /* executed, but its completion never comes */
	uint32_t duplicate_ppm; /* its completion comes twice */
	uint32_t fail_ppm;      /* not executed; completes with fail_status */
	uint32_t fail_status;   /* status field, such as GN_NVME_UNRECOVERED_READ; 0 for a fitting one */
	uint32_t torn_ppm;      /* half of the data moves, then GN_NVME_DATA_TRANSFER_ERROR */
	uint32_t writes_only;   /* 1: reads do not suffer */
	uint32_t members;       /* of a stripe or replica: bit k, member k suffers; 0: all do */
	uint64_t first;         /* number of the first command of a queue that may suffer */
};

/* Zero is a good default for every member. An option in the URI overrides it. */
struct gn_store_options {
	int read_only;
	/*
	 * These three are of file:, memq:, nvme: and rdma:, of each member of a set; other stores have no
	 * queue pairs. A drive or device that supports less gets less.
	 */
	uint32_t queue_count;    /* 0 for one for each processor of the machine, 128 at most */
	uint32_t queue_depth;    /* a power of two; 0 for 256, less where the buffers would pass 128 MiB */
	uint32_t transfer_bytes; /* the largest, see transfer=SIZE of a URI; 0 for 64 KiB */
	uint64_t timeout_ns;     /* 0 for 10 s */
	/* First ticket of the queue pairs, for tests; rounded down as nvmeq.h says. */
	uint32_t queue_start;
	const struct gn_fault_plan *faults; /* borrowed until return */
};

/*
 * gn_store_open - open a store on a machine.
 * @store    receives it; owned, close with gn_store_close before the machine
 * @uri      as at the top of this file
 * @options  NULL for the defaults
 * A path must be a regular file. host: memory is registered with the machine in pieces of at most 64 GiB.
 * Host. Returns 0, -GN_EINVAL (not a URI; an unknown option or a bad value), -GN_ENOENT, -GN_EACCES,
 * -GN_ENOMEM, -GN_ENOTSUP (a directory, a FIFO, a scheme that was not built in, host:PATH to write from a
 * GPU), -GN_EBUSY (another store writes this file; the kernel or another process has the drive), -GN_ENODEV
 * (nvme: no such drive; rdma: no device reaches the server), -GN_ENOSPC (host:PATH: no room for the file),
 * -GN_ETIMEDOUT (nvme: the controller does not answer; rdma: the host), -GN_EROFS (without ro: a region that
 * is lent read-only, or a file of a read-only file system), -GN_EFBIG (the file system has no files so
 * large), -GN_EPERM (the system forbids it), or -GN_EIO; the message says what to do.
 */
int gn_store_open(struct gn_store **store, struct simt_machine *machine, const char *uri,
                  const struct gn_store_options *options, struct gn_error *error);

/*
 * gn_store_close - stop controllers, unregister, unmap, close; NULL does nothing. Kernels that use the store
 * must have ended. Waits for transfers that are being executed, also of abandoned commands. Bytes that were
 * written are in the store, except of a tier: it tries once to write what only its fast level has, and cannot
 * report a failure. Call gn_store_flush before.
 */
void gn_store_close(struct gn_store *store);

/* gn_store_view_of - the store as kernels see it; borrowed, valid until close. */
const struct gn_store_view *gn_store_view_of(const struct gn_store *store);

/*
 * gn_store_path - describe in words which way the bytes go, such as "file, io_uring, O_DIRECT, 2 queues of
 * 256". Borrowed.
 */
const char *gn_store_path(const struct gn_store *store);

/*
 * gn_store_read_host, gn_store_write_host - the host's own access, for set-up and checks; any offset and
 * length inside the capacity. Host, one thread at a time. They do not see what is only in a cache: flush it
 * before. Device memory is copied as by simt_move. Returns 0, -GN_ERANGE, -GN_EROFS (a write), -GN_EIO,
 * -GN_ENOSPC; from nvme: and rdma: also -GN_ETIMEDOUT, -GN_EBUSY (an earlier write to these blocks timed out
 * and may still land), -GN_ENODEV, -GN_EACCES and -GN_ENOTSUP (what the drive said). A file: store does not
 * look for such earlier writes: after a write of a kernel timed out, close the store before the host writes
 * the same bytes. From a tier: the codes of its slow store
 * (-GN_EIO for -GN_EBUSY), and -GN_ETIMEDOUT. While gn_store_write_host writes a part of a tier's line, no
 * kernel may use that line, not even its other bytes: the kernel could fetch the line before the write is
 * done, and keep the old bytes.
 */
int gn_store_read_host(struct gn_store *store, uint64_t offset, void *to, size_t bytes,
                       struct gn_error *error);
int gn_store_write_host(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                        struct gn_error *error);

/*
 * gn_store_flush - make all written bytes durable, if the store is durable (host memory is not). Any host
 * thread; the library runs one call after another. Managed memory comes back to host memory (memory=KIND of a
 * URI); no kernel may use it meanwhile. Over a tier it launches a kernel on a stream of the store's own and
 * waits for it: do not call it from a callback of a stream. Over a replica on a GPU it waits for the launches
 * of the machine's own stream. If it finds a failed member, it launches one warp there, and waits until
 * kernels leave room for it. Returns 0, -GN_EIO, -GN_ENOSPC, -GN_ETIMEDOUT (rdma:; a tier whose slow store
 * does not answer, or whose lines are in use all that time). After a failure every later call fails, too: the
 * system reports only once that it could not write bytes. rdma: and tiers are exceptions, because the server
 * and the fast level still know these bytes: there a later call that returns 0 has made all of them durable.
 */
int gn_store_flush(struct gn_store *store, struct gn_error *error);

/*
 * gn_store_share - open a store to kernels of another machine (simt_open; another GPU, say): caches and
 * arrays over it may then be created on that machine.
 * @machine  of the same kind; it is closed after the store and after these caches and arrays
 * Caches of two machines do not see each other's changes before gn_cache_flush of the one and
 * gn_cache_invalidate of the other. Arrays in direct mode see a change when the kernel that made it has
 * ended. Host. Returns 0; -GN_ENOTSUP (the store is neither host: of pinned memory nor peer:, the machines
 * are of two kinds, or the GPUs do not reach each other).
 */
int gn_store_share(struct gn_store *store, struct simt_machine *machine, struct gn_error *error);

/* What a store has moved since it was opened, as its controller counted it. */
struct gn_store_statistics {
	uint64_t reads, writes; /* commands that succeeded; of nvme: all that the drive has completed */
	uint64_t read_bytes, written_bytes;
	uint64_t failed;      /* commands that ended in an error */
	uint64_t members_out; /* of a replica or tier: members that are out of use, or could not be opened */
	/* Of nvme:, and of stripes and replicas of them; of other stores 0. */
	uint64_t retries;                       /* commands of the host that were sent again */
	uint64_t read_timeouts, write_timeouts; /* commands that had not ended some ms after their deadline */
	uint64_t aborts;                        /* Abort commands that were sent for them */
	uint64_t resets;                        /* of the controller */
	/* Of the fast level of a tier. */
	uint64_t hits, misses; /* transfers whose line was in it; transfers whose line was not */
	uint64_t evictions;    /* lines that gave their place to another, also if its fetch then failed */
	uint64_t write_backs;  /* lines that were written to the slow store */
	uint64_t unwritten;    /* failed writes of a line, which stays and is tried again */
};

/*
 * gn_store_get_statistics - fill statistics. Host.
 *
 *   host:    and peer: all are 0: nothing counts the threads' own loads and stores.
 *   nvme:    the drive's log has reads and writes, failed commands included, and bytes in steps of
 *            512,000; all 0 if the drive has no such log. A command asks the drive, and this call waits up
 *            to 5 seconds for it, after other admin commands (an Abort takes a second at most). During
 *            a reset, or after the drive once did not answer, it is not asked, and the last numbers
 *            are returned. `failed` counts commands of the host. A thread of the library looks for
 *            time-outs every 10 milliseconds: it does not count a command that the drive ends before
 *            that. Those of a GPU's threads are not counted.
 *   replica: on a GPU the call waits for the launches of the machine's own stream.
 *   tier:    the numbers of the slow store, and those of the fast level. The call waits for a flush
 *            that is under way: do not call it from a callback of a stream.
 */
void gn_store_get_statistics(const struct gn_store *store, struct gn_store_statistics *statistics);

/* The state of a member of a stripe, replica or tier. */
enum gn_store_member_use {
	GN_MEMBER_USED,
	GN_MEMBER_STALE,   /* it was out of date when the replica was opened, and is not read */
	GN_MEMBER_MISSING, /* it could not be opened with the replica */
	GN_MEMBER_FAILED,  /* it failed, and is read only if no other can be; written if it missed no write */
	GN_MEMBER_RETURNING /* gn_store_resync is putting it back: it is written, and not yet read */
};

/* A member of a stripe, replica or tier. */
struct gn_store_member {
	const char *uri; /* borrowed from the store */
	enum gn_store_member_use use;
	struct gn_store_status why; /* 0 while it is in use */
	char text[256];             /* the same in words */
};

/*
 * gn_store_get_member - describe a member of a stripe, replica or tier.
 * @k  its number, from 0. Of a tier 0 is the fast level, 1 the slow store, and from 2 on come the members of
 *     the slow store, if it has any
 * Host. On a GPU it waits for the launches of the machine's own stream. Returns 0, or -GN_ERANGE: the store
 * has no member k.
 */
int gn_store_get_member(const struct gn_store *store, uint32_t k, struct gn_store_member *member);

/*
 * gn_store_resync - put a member of a replica back that is out of use, while kernels and the host go on using
 * the replica.
 * @k  its number, as in gn_store_get_member: from 0; of a tier over the replica from 2. Messages, as
 *     `grapnel store`, count members from 1 and name their URIs
 * As soon as it begins, the member gets every write. The bytes that it missed are copied from the others:
 * those that the log names, or all if nothing is known of the member's bytes. Then the member is read as the
 * others are. Last it is flushed, and the state says that it is up to date. A member that could not be opened
 * with the replica, or was stale then, is opened now; if it is another file or drive than before, all its
 * bytes are copied. A member that failed while in use stays open; if it cannot be flushed, only closing the
 * replica and `grapnel store rebuild` help. A member that only failed reads missed nothing: it is read again
 * at once. The call compares no bytes; `grapnel store verify` does.
 *
 * One host thread at a time for a store; not from a callback of a stream. Meanwhile other host threads may
 * call gn_store_read_host, gn_store_write_host, gn_store_get_member and gn_store_get_statistics, one thread
 * at a time, and gn_store_flush at any time; not gn_store_close. They wait for a step of the resync, which
 * copies 32 pieces of at most 64 KiB each (on the cpu machine one after the other), or flushes.
 * gn_store_get_member says how far it is. Kernels go on. A thread that writes bytes which are just being
 * copied waits for the copy, at most timeout_ns of the view, and writes them again; if the copy takes longer,
 * the member is put out of use again.
 *
 * Opening a member waits for the launches of the machine's own stream, on every machine, and on a GPU the
 * flush at the end does, too. So run long kernels on other streams, and launch nothing on the machine's own
 * stream meanwhile. On a GPU one warp copies, on a stream of its own, and needs room beside the program's
 * kernels. If it does not start within timeout_ns of the view, the call fails before the member is changed;
 * later it waits without a deadline, and holds up no kernel. Over a tier all this holds, too; bytes that are
 * only in the fast level are written to all members when their line leaves or is flushed.
 *
 * Returns 0: the member is in use. -GN_ERANGE, -GN_ENOTSUP (no replica; the member does not fit the others),
 * -GN_EROFS (it is out of date, and the replica or the member is opened ro), -GN_EBUSY (another resync is
 * under way; another store or program has the member; an earlier write to the member timed out and may still
 * land; a GPU's kernels leave no room for a warp), -GN_ENOMEM, -GN_EIO or -GN_ETIMEDOUT (the member failed
 * again, or no other can be read), or as gn_store_open. Then the member is out of use as before; nothing is
 * lost, and the call may be made again. If the state cannot be written, the member is in use all the same,
 * and the next flush writes the state again.
 */
int gn_store_resync(struct gn_store *store, uint32_t k, struct gn_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* ---- kernels: transfers ---- */

/*
 * gn_store_read_warp - collective: a warp's lanes read bytes of a store, a run for each lane with wants 1.
 * @mask    the calling lanes (simt.h); all of them move the bytes of each
 * @wants   1: this lane's run is read; 0: the lane only helps, and its other arguments are ignored
 * @offset  in the store, a multiple of block_bytes
 * @to      16-byte aligned, room for bytes rounded up to 16
 * @bytes   up to GN_STORE_MAX_TRANSFER; offset + bytes <= capacity_bytes
 * All runs are in flight together. Waits for the device, at most timeout_ns. After it the lanes of mask see
 * the bytes of all; other threads see them after a release by these lanes. Returns each lane's own status:
 * 0, -GN_EIO (see device), -GN_ETIMEDOUT, -GN_EINVAL (more than transfer_bytes, or the run crosses from one
 * unit of a stripe to the next); 0 to a lane with wants 0.
 */
SIMT_FN struct gn_store_status gn_store_read_warp(const struct gn_store_view *s, uint32_t mask, int wants,
                                                  uint64_t offset, void *to, uint32_t bytes);

/*
 * gn_store_write_warp - collective: a warp's lanes write bytes to a store, a run for each lane with wants 1.
 * Arguments as for gn_store_read_warp. The last block of a store may reach past capacity_bytes; the
 * bytes there are dropped. After a return of 0 the bytes are in the store (not necessarily on the medium:
 * gn_store_flush). Returns each lane's own status: 0, -GN_EIO, -GN_ENOSPC (the medium is full), -GN_EINVAL
 * (as for gn_store_read_warp), -GN_ETIMEDOUT, -GN_EBUSY (an earlier write to these blocks timed out and may
 * still land), -GN_EROFS.
 */
SIMT_FN struct gn_store_status gn_store_write_warp(const struct gn_store_view *s, uint32_t mask, int wants,
                                                   uint64_t offset, const void *from, uint32_t bytes);

/*
 * gn_store_read_thread - one thread reads a few bytes at any offset.
 * @bytes  up to 16, inside one block and inside the capacity
 * Waits at most timeout_ns. Returns 0, -GN_EIO, -GN_ETIMEDOUT.
 */
SIMT_FN struct gn_store_status gn_store_read_thread(const struct gn_store_view *s, uint64_t offset, void *to,
                                                    uint32_t bytes);

/*
 * gn_store_write_thread - one thread writes a few bytes at any offset; arguments as for
 * gn_store_read_thread. A block store reads the block, changes it and writes it back: the caller must keep
 * other threads from the block. Returns as gn_store_write_warp; -GN_EROFS only from a stripe, replica or
 * tier: for other stores the caller looks at read_only.
 */
SIMT_FN struct gn_store_status gn_store_write_thread(const struct gn_store_view *s, uint64_t offset,
                                                     const void *from, uint32_t bytes);

#include <grapnel/detail/store/move.h>

#endif
