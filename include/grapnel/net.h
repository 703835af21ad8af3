/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h - small messages from GPU threads to any node.
 *
 * A program runs on several nodes, each with a machine and a heap of the same layout. Any thread of any
 * kernel changes or reads the heap of another node by a function call. The messages of all threads are
 * sorted by destination and travel in packets of 64 KiB.
 *
 * This file declares every function; the code of those that kernels call is in detail/net/.
 *
 *     static int node_main(struct gn_net *net, void *unused)
 *     {
 *             const struct gn_net_view *host = gn_net_host(net);
 *             uint64_t *table = gn_net_alloc(net, 1 << 20, NULL);
 *             struct update_args a = {gn_net_device(net), table};
 *             int rc = table ? gn_net_barrier(host) : -GN_ENOMEM; // the table is there on every node
 *
 *             if (!rc)
 *                     rc = simt_launch(gn_net_machine(net), &update_kernel, grid, &a, NULL);
 *             // in the kernel: gn_net_inc_u64(&a->net, pe, &a->table[i])
 *             if (!rc)
 *                     rc = simt_wait(gn_net_machine(net), NULL);
 *             return rc ? rc : gn_net_barrier(host); // all messages have arrived
 *     }
 *     ...
 *     gn_net_run(&options, node_main, NULL, &error);
 *
 * Sources: Gravel (queue, aggregator: sections 3 and 4), conveyors (two-level routing), OpenSHMEM 1.4 (what
 * the operations mean).
 */
#ifndef GRAPNEL_NET_H
#define GRAPNEL_NET_H

#include <grapnel/error.h>
#include <grapnel/detail/net/fetch.h>
#include <grapnel/detail/net/group.h>
#include <grapnel/detail/net/send.h>
#include <grapnel/simt.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

struct gn_net;

/*
 * What carries the packets (gn_net_options.transport):
 *   local  nodes are threads of this process
 *   mpi    nodes are the processes that an MPI launcher has started; any MPI 3, in programs that are linked
 *          with the library grapnel-mpi. Every process calls gn_net_run with the same heap_bytes and columns
 *   NULL   mpi if it is linked in and a launcher has started this process (one of OMPI_COMM_WORLD_SIZE,
 *          PMI_SIZE, PMIX_RANK is in the environment), else local
 *
 * gn_net_run initialises MPI and ends it, unless the program has initialised it. Then MPI must be
 * MPI_THREAD_FUNNELED or better, and the thread that initialised it calls gn_net_run. MPI can be initialised
 * only once in a process, so a program that runs net several times over mpi initialises MPI itself. The
 * thread that called gn_net_run makes all calls of MPI; `node` may call MPI only if it is
 * MPI_THREAD_MULTIPLE. Net has a communicator of its own.
 *
 * If not all nodes come to the end, MPI is not ended, because it would wait for the missing nodes. The
 * process should then exit; the launcher ends the others.
 */

/* Which packets are compressed: they travel without the bytes that their messages share. */
enum gn_net_compress {
	GN_NET_COMPRESS_COPIES, /* those that the transport copies (mpi) */
	GN_NET_COMPRESS_NOT,    /* none */
	GN_NET_COMPRESS         /* all */
};

/*
 * How messages leave their node. The first form is the normal one; the others are the models with which
 * Gravel is compared (section 3, figure 15). The results of programs are the same.
 */
enum gn_net_form {
	GN_NET_COMBINED, /* messages of all threads by destination, while threads run */
	/* all messages at once, when a log is full or nothing more comes; threads wait until they are done */
	GN_NET_COPROCESSOR,
	GN_NET_COALESCED, /* 256 messages at a time, a block's in Gravel; a packet for each destination */
	GN_NET_MESSAGE_PER_LANE /* a packet for each message */
};

/* How kernels, and on cpu also host threads, access heaps of nodes of the same host. */
enum gn_net_route {
	GN_NET_PACKETS, /* by messages, in order */
	/*
	 * by their own loads, stores and atomics, if their machine reaches the heap: of the same GPU, of GPUs
	 * over NVLink, of processes if the system allows it. Only gn_net_fence orders these. Calls, and
	 * operations on memory outside the heap, go by messages
	 */
	GN_NET_DIRECT
};

/*
 * Zero is a good default for every member.
 *
 * On cuda node k runs on GPU k modulo the number of GPUs; several nodes may share a GPU. With "cuda:1" all
 * nodes run on that GPU. The heap is in the GPU's memory: the host accesses it only by operations
 * such as gn_net_put and gn_net_get. A kernel of the library stays on the GPU for the whole run; it sorts
 * messages and changes the heap. Those of all nodes of a GPU take a quarter of its multiprocessors at most,
 * but each takes at least 3. If they would take all, the network threads sort and each takes 2; if that is
 * too many as well, the run is refused. Kernels of the program that wait for other nodes of the same GPU
 * should leave room for them. Memory that is freed by simt_free during the run is available only after it.
 */
struct gn_net_options {
	/* of each node; name NULL: "cpu"; threads 0: the host's cores divided by its nodes, 1 at least */
	struct simt_options machine;
	const char *transport; /* "local", "mpi"; NULL: "mpi" if linked in and launched, else "local" */
	uint32_t nodes;        /* of "local"; 0: 1. "mpi" has as many as its launcher started */
	/*
	 * of the grid of nodes; 1: messages go directly; more: by row and column. 0: 1 up to 64 nodes, else
	 * the square root of their number, rounded down
	 */
	uint32_t columns;
	uint64_t heap_bytes;   /* of each node; 0: 64 MiB */
	uint64_t shared_bytes; /* cuda: for gn_net_alloc_shared; 0: 1 MiB */
	/* static data that is symmetric memory, too; 8-byte aligned. cpu only, one node in a process */
	void *data;
	uint64_t data_bytes; /* of it, the same on all nodes */
	/* of each processor's log, in which messages wait to be sorted; 0: 1 MiB, on cuda 256 KiB */
	uint64_t log_bytes;
	uint64_t packet_bytes; /* of a full packet, up to 64 KiB; 0: 64 KiB */
	uint64_t flush_ns;     /* a packet that grows slowly is sent when it is this old; 0: 125 us */
	enum gn_net_compress compress;
	enum gn_net_form form;
	enum gn_net_route route;
	uint32_t by_kernel;  /* for tests; 1: also on cpu a kernel sorts messages and changes the heap */
	uint32_t host_sorts; /* 1: also on cuda the network thread sorts the messages of kernels */
	uint64_t timeout_ns; /* of every wait for another node; 0: 30 s */
};

/* What a node did and how well packets were filled. */
struct gn_net_statistics {
	/* messages taken from the logs; messages of other nodes that were applied */
	uint64_t sent, applied;
	uint64_t calls, called;         /* active messages sent; those run here, also of this node */
	uint64_t passed;                /* messages of others that were sorted here and sent on (columns) */
	uint64_t packets, packet_bytes; /* sent */
	uint64_t message_bytes;         /* of the messages in them */
	/* why packets were sent: full; old; another node or a gn_net_quiet waits for a message in them */
	uint64_t full, aged, urgent;
	uint64_t size[17];          /* packets of 2^k to 2^(k+1) - 1 bytes */
	uint64_t stalls;            /* times that messages had to wait for a buffer */
	uint64_t turns, idle_turns; /* of the network thread; those in which nothing moved */
	uint64_t buffer_bytes;      /* the most that packets take */
};

/*
 * gn_net_run - run a program on all nodes.
 * @node  is called once for each node of this process, on a thread of its own. The run ends when it has
 *        returned on all nodes. If it returns a negative code on one node, waits on all other nodes end with
 *        this code, and gn_net_failure names the node. If the network of a node fails, its waits end too.
 *        If it returns 0 or a positive code while another node waits for this node, that node waits until
 *        its deadline. The failure may then name a node that was itself waiting
 * Host. Returns when all nodes of this process have ended: 0: all messages were applied; or a code of `node`
 * that is not 0: that of the node that failed first, where it is known (error has the network's message); or
 * the code with which the network of a node of this process failed, although `node` returned 0; or -GN_EINVAL
 * (an option; not the thread that initialised MPI), -GN_ENOMEM, -GN_ENODEV (no such transport or machine: the
 * message says how to get it), -GN_ETIMEDOUT (other nodes did not begin, or did not end, in time), -GN_EIO
 * (an error of MPI), -GN_ENOTSUP (MPI was initialised for one thread, or used by an earlier run).
 */
int gn_net_run(const struct gn_net_options *options, int (*node)(struct gn_net *net, void *argument),
               void *argument, struct gn_error *error);

/* gn_net_node, gn_net_nodes - which node this is, of how many. */
uint32_t gn_net_node(const struct gn_net *net);
uint32_t gn_net_nodes(const struct gn_net *net);

/* gn_net_machine - the node's machine. Borrowed. */
struct simt_machine *gn_net_machine(const struct gn_net *net);

/* gn_net_device, gn_net_host - the view for kernels of the node's machine; the view for its host threads. */
struct gn_net_view gn_net_device(const struct gn_net *net);
const struct gn_net_view *gn_net_host(const struct gn_net *net);

/*
 * gn_net_alloc - symmetric memory, zeroed, aligned to 64 bytes. Every node makes the same calls of alloc and
 * free, in the same order: then the memory has the same offset in the heaps of all nodes, which is its
 * symmetric address. Before a node uses it on another node, both pass a gn_net_barrier. Host, one thread at a
 * time. Returns NULL if the heap has not enough room (-GN_ENOMEM in error->code), or the machine failed to
 * zero the memory.
 */
void *gn_net_alloc(struct gn_net *net, uint64_t bytes, struct gn_error *error);

/*
 * gn_net_alloc_aligned - as gn_net_alloc, at a multiple of alignment: a power of two, up to 16 MiB in heaps
 * of 32 MiB and more, else up to 4096 (-GN_EINVAL if it is not).
 */
void *gn_net_alloc_aligned(struct gn_net *net, uint64_t alignment, uint64_t bytes, struct gn_error *error);

/*
 * gn_net_alloc_shared - as gn_net_alloc, for memory that the machine and its host both reach: on cpu the
 * heap, on cuda memory of the host. There an operation of a kernel on its own node is a message, too.
 */
void *gn_net_alloc_shared(struct gn_net *net, uint64_t bytes, struct gn_error *error);

/*
 * gn_net_bytes - the size of an allocation, a multiple of 64; 0 if none begins at memory. Host, one thread at
 * a time.
 */
uint64_t gn_net_bytes(const struct gn_net *net, const void *memory);

/*
 * gn_net_free - free symmetric memory of any of these calls, in the same order on every node. NULL does
 * nothing. Host, one thread at a time.
 */
void gn_net_free(struct gn_net *net, void *memory);

/* An active message that has come. */
struct gn_net_incoming {
	/* for operations without a result, of 16 KiB together at most: put, changes, call */
	const struct gn_net_view *net;
	uint32_t from; /* node */
	uint32_t bytes;
	const void *payload; /* 8-byte aligned, borrowed until return */
};
typedef void gn_net_handler_fn(const struct gn_net_incoming *message, void *context);

/*
 * gn_net_handler - register a function, which gn_net_call runs by the number that is returned.
 * @name  every node registers the same names in the same order, before the handler is called. Up to 55 bytes
 *        of them are compared; node 0 fails if another node has a different name (-GN_EINVAL; the text of
 *        gn_net_failure has both)
 * Handlers run on the network thread, one after the other, and must not wait. They do not reach a GPU's
 * memory. Host. Returns a number from 0, -GN_EINVAL (the name is taken), -GN_ENOBUFS (64 are registered),
 * -GN_ETIMEDOUT (the name could not be sent), or the code of a node that failed.
 */
int gn_net_handler(struct gn_net *net, const char *name, gn_net_handler_fn *handler, void *context,
                   struct gn_error *error);

/*
 * gn_net_failure - the first failure of this node: of one of its operations, or of its network.
 * @fault  receives its code, and the other node; state 0: there was none
 * @error  receives why the network failed, if it did, and its code; else the first failure in words
 * Returns the code of the first failure; 0: none. Any thread.
 */
int gn_net_failure(const struct gn_net *net, struct gn_net_fault *fault, struct gn_error *error);

/*
 * gn_net_get_statistics - fill statistics with what the node did so far. The values are exact while no
 * message is under way. Any thread.
 */
void gn_net_get_statistics(const struct gn_net *net, struct gn_net_statistics *statistics);

/*
 * gn_net_waits - which nodes this node waits for: its row of the wait matrix.
 * @ns  [nodes] receives for each node the nanoseconds since it last answered; 0 if no answer of it is missing
 * Any thread.
 */
void gn_net_waits(const struct gn_net *net, uint64_t *ns);

/*
 * gn_net_waited - as gn_net_waits, for the past: for how long this node has waited for replies or answers of
 * each other node.
 * @ns  [nodes] receives the total time, without the waits of now
 * Any thread.
 */
void gn_net_waited(const struct gn_net *net, uint64_t *ns);

/*
 * gn_net_settle - wait until no message is in flight on any node, including messages that handlers send. All
 * nodes call it, one host thread each; it is a barrier too. Codes as gn_net_quiet.
 */
int gn_net_settle(struct gn_net *net, struct gn_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* ---- kernels and hosts: operations on another node's memory ---- */

/*
 * Any thread of a kernel, from divergent code, and host threads with gn_net_host. `to` and `from` of the
 * other node are addresses in the caller's own symmetric memory; the operation is done at the same symmetric
 * address of node pe.
 *
 * Order: operations of one thread to one node are done there in order, as that node's network sees them.
 * Operations of different threads, or to different nodes, are done in any order. The thread itself does an
 * operation on its own node, at once, if it reaches the memory (calls are messages). After gn_net_quiet all
 * operations of the thread are done. Changes are indivisible; their memory order is relaxed.
 *
 * On the route GN_NET_DIRECT a thread does its operations itself in the heaps that it reaches. Different
 * elements may then change in another order than the calls; gn_net_fence orders them. They may also change
 * before the thread's earlier messages (calls, and operations on memory that it does not reach) are done;
 * gn_net_quiet orders these.
 *
 * Operations without a result return when the message is in the log; they wait only while the node's log is
 * full. Operations with a result wait for the other node, at most timeout_ns; lanes that call together wait
 * together.
 *
 * Return 0; -GN_EINVAL (no such node, an address that is not a multiple of the size); -GN_ERANGE (not in
 * symmetric memory); -GN_ETIMEDOUT (the log stayed full, or the node did not answer: the operation may have
 * been done); -GN_EIO (messages were lost); the code that the other node answered; or the code with
 * which the program of any node, or the network of this one, has failed, because then all waits end. The node
 * keeps the first failure: gn_net_failure.
 */

/* gn_net_put_T - store a value. */
SIMT_FN int gn_net_put_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value);
SIMT_FN int gn_net_put_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value);

/*
 * gn_net_put - store bytes, of any number and alignment; source and destination do not overlap. The source
 * may be used again at once. The bytes travel in parts of 4096, which may arrive at different times.
 * @from  memory that the caller loads: for a host thread not the heap of a GPU
 */
SIMT_FN int gn_net_put(const struct gn_net_view *n, uint32_t pe, void *to, const void *from, uint64_t bytes);

/*
 * gn_net_CHANGE_T - change an element: add: add a value; inc: add 1; min, max: set it to the smaller or
 * larger of itself and a value (unsigned); and, or, xor: combine its bits with those of a value.
 */
SIMT_FN int gn_net_add_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value);
SIMT_FN int gn_net_add_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value);
SIMT_FN int gn_net_inc_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to);
SIMT_FN int gn_net_inc_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to);
SIMT_FN int gn_net_min_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value);
SIMT_FN int gn_net_min_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value);
SIMT_FN int gn_net_max_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value);
SIMT_FN int gn_net_max_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value);
SIMT_FN int gn_net_and_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value);
SIMT_FN int gn_net_and_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value);
SIMT_FN int gn_net_or_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value);
SIMT_FN int gn_net_or_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value);
SIMT_FN int gn_net_xor_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value);
SIMT_FN int gn_net_xor_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value);

/*
 * gn_net_call - an active message: the handler runs on node pe, which may be the caller's own, with a copy
 * of the payload.
 * @handler  the number that gn_net_handler returned
 * @bytes    of the payload, at most GN_NET_MOST_CALL_BYTES (64); more is -GN_EINVAL
 */
SIMT_FN int gn_net_call(const struct gn_net_view *n, uint32_t pe, uint32_t handler, const void *payload,
                        uint32_t bytes);

/* gn_net_get_T - load an element. @value  receives it; 0 on failure */
SIMT_FN int gn_net_get_u32(const struct gn_net_view *n, uint32_t pe, const uint32_t *from, uint32_t *value);
SIMT_FN int gn_net_get_u64(const struct gn_net_view *n, uint32_t pe, const uint64_t *from, uint64_t *value);

/*
 * gn_net_get_nb - load bytes. A host thread does not wait for them; a GPU's thread waits for each 4096 bytes.
 * @to  memory that the node's host reaches; of a GPU's thread: memory that the thread reaches. Its bytes are
 *      undefined and borrowed until gn_net_quiet returns 0; if that fails, until gn_net_run returns. After
 *      a failure of this call it is not borrowed
 * gn_net_get - the same, and wait for the bytes. Also after a failure nothing is written to `to` any more.
 */
SIMT_FN int gn_net_get_nb(const struct gn_net_view *n, uint32_t pe, const void *from, void *to,
                          uint64_t bytes);
SIMT_FN int gn_net_get(const struct gn_net_view *n, uint32_t pe, const void *from, void *to, uint64_t bytes);

/*
 * gn_net_fetch_CHANGE_T, gn_net_swap_T, gn_net_cas_T - as gn_net_CHANGE_T; *before receives the old element.
 * swap stores a value. cas stores value if the element equals expected; it did so if *before equals expected.
 * On failure *before is 0.
 */
SIMT_FN int gn_net_fetch_add_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t by,
                                 uint32_t *before);
SIMT_FN int gn_net_fetch_add_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t by,
                                 uint64_t *before);
SIMT_FN int gn_net_fetch_min_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                                 uint32_t *before);
SIMT_FN int gn_net_fetch_min_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                                 uint64_t *before);
SIMT_FN int gn_net_fetch_max_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                                 uint32_t *before);
SIMT_FN int gn_net_fetch_max_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                                 uint64_t *before);
SIMT_FN int gn_net_fetch_and_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                                 uint32_t *before);
SIMT_FN int gn_net_fetch_and_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                                 uint64_t *before);
SIMT_FN int gn_net_fetch_or_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                                uint32_t *before);
SIMT_FN int gn_net_fetch_or_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                                uint64_t *before);
SIMT_FN int gn_net_fetch_xor_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                                 uint32_t *before);
SIMT_FN int gn_net_fetch_xor_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                                 uint64_t *before);
SIMT_FN int gn_net_swap_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                            uint32_t *before);
SIMT_FN int gn_net_swap_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                            uint64_t *before);
SIMT_FN int gn_net_cas_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t expected,
                           uint32_t value, uint32_t *before);
SIMT_FN int gn_net_cas_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t expected,
                           uint64_t value, uint64_t *before);

/*
 * gn_net_quiet - wait until all operations of this thread, on any node, are done, and all bytes of its
 * gn_net_get_nb have arrived. It also waits for the operations of all kernels of this node that ended before
 * the call. Messages that
 * handlers sent because of them may still be in flight: see gn_net_settle.
 */
SIMT_FN int gn_net_quiet(const struct gn_net_view *n);

/*
 * gn_net_fence - order this thread's earlier operations on a node before its later ones there, and before its
 * later loads and stores. Messages of one thread to one node keep their order without it. On the route
 * GN_NET_DIRECT it orders direct operations with each other and before later messages. To order direct
 * operations after earlier messages call gn_net_quiet.
 */
SIMT_FN void gn_net_fence(const struct gn_net_view *n);

/*
 * gn_net_wait_until_ge_u64 - wait, at most timeout_ns, until an element of this node's memory is value or
 * more; other threads or nodes change it.
 * @element  memory that the caller loads: for a host thread not the heap of a GPU
 */
SIMT_FN int gn_net_wait_until_ge_u64(const struct gn_net_view *n, const uint64_t *element, uint64_t value);

/* ---- kernels and hosts: nodes together ---- */

/*
 * One thread of every node of the team calls the same functions in the same order: a host thread or a thread
 * of a kernel. Each wait for another node lasts at most timeout_ns. Return as gn_net_put, and -GN_EINVAL: the
 * team is not valid, or this node is not in it. gn_net_failure names the node for which this one waited; that
 * node may itself have waited for another.
 *
 * After another failure than -GN_EINVAL the team's group cannot be used by this node any more: every later
 * call returns the code of the first failure, and nodes that wait for this one reach their deadline.
 * Otherwise a later sum could take values that were sent for the failed one.
 *
 * A struct gn_net_team is a set of nodes: `nodes` of them, every stride-th from first on. It is plain data,
 * the same on all of them. If teams share a node and may call these functions at the same time, each needs a
 * struct gn_net_group of its own, from gn_net_alloc_shared.
 */

/* gn_net_team_world - the team of all nodes. */
SIMT_FN struct gn_net_team gn_net_team_world(const struct gn_net_view *n);

/* gn_net_team_node - the node that has a rank in a team; ranks count from 0. */
SIMT_FN uint32_t gn_net_team_node(const struct gn_net_team *t, uint32_t rank);

/*
 * gn_net_team_rank - this node's rank in a team. Returns 0 or -GN_EINVAL: the team is not valid, or the
 * node is not in it.
 */
SIMT_FN int gn_net_team_rank(const struct gn_net_view *n, const struct gn_net_team *t, uint32_t *rank);

/*
 * gn_net_team_sync - wait until all nodes of the team have called it. Earlier messages may still be in
 * flight.
 */
SIMT_FN int gn_net_team_sync(const struct gn_net_view *n, const struct gn_net_team *team);

/* gn_net_team_barrier, gn_net_barrier - gn_net_quiet, then gn_net_team_sync; of a team, of all nodes. */
SIMT_FN int gn_net_team_barrier(const struct gn_net_view *n, const struct gn_net_team *team);
SIMT_FN int gn_net_barrier(const struct gn_net_view *n);

/*
 * gn_net_team_broadcast - send bytes of one node to all others of the team.
 * @root  its rank in the team
 * @to    symmetric; receives the bytes on the others, and stays as it is at the root
 * @from  the root's bytes, in any memory; ignored on the others
 * gn_net_broadcast - bytes of node root, in symmetric memory, to all nodes.
 */
SIMT_FN int gn_net_team_broadcast(const struct gn_net_view *n, const struct gn_net_team *team, uint32_t root,
                                  void *to, const void *from, uint64_t bytes);
SIMT_FN int gn_net_broadcast(const struct gn_net_view *n, uint32_t root, void *memory, uint64_t bytes);

/*
 * gn_net_team_reduce - combine the elements of all nodes of a team, and return the result on all of them.
 * @elements  count elements of `bytes` (1 to 512) each, in any memory: in: this node's, out: the result;
 *            undefined after a failure
 * @combine   combines the elements of two nodes (detail/net/group.h); context is passed to it
 */
SIMT_INLINE_FN int gn_net_team_reduce(const struct gn_net_view *n, const struct gn_net_team *team,
                                      void *elements, uint64_t count, uint32_t bytes,
                                      gn_net_combine_fn *combine, uint64_t context);

/*
 * gn_net_team_reduce_u64, gn_net_reduce_u64 - combine the words of all nodes, and return the result on all
 * of them.
 * @change  GN_ADD, GN_ADD_FLOAT (the words are f64), GN_MIN, GN_MAX, GN_AND, GN_OR or GN_XOR
 * @words   count words, in any memory: in: this node's, out: the result; undefined after a failure
 */
SIMT_FN int gn_net_team_reduce_u64(const struct gn_net_view *n, const struct gn_net_team *team,
                                   uint32_t change, uint64_t *words, uint64_t count);
SIMT_FN int gn_net_reduce_u64(const struct gn_net_view *n, uint32_t change, uint64_t *words, uint64_t count);

/*
 * gn_net_team_all_gather, gn_net_all_gather - collect bytes of every node, in the order of the nodes, on all
 * nodes.
 * @to    symmetric, bytes * nodes of them
 * @from  this node's, anywhere
 */
SIMT_FN int gn_net_team_all_gather(const struct gn_net_view *n, const struct gn_net_team *team, void *to,
                                   const void *from, uint64_t bytes);
SIMT_FN int gn_net_all_gather(const struct gn_net_view *n, void *to, const void *from, uint64_t bytes);

#endif
