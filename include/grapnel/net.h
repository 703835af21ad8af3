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
 *             uint64_t *table = gn_net_alloc(net, 1 << 20);
 *             struct update_args a = {gn_net_device(net), table};
 *
 *             simt_launch(gn_net_machine(net), &update_kernel, grid, &a);
 *             // in the kernel: gn_net_inc_u64(&a->net, pe, &a->table[i])
 *             simt_wait(gn_net_machine(net));
 *             return gn_net_barrier(gn_net_host(net));
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
 * What carries the packets:
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

/* Whether packets travel without the bytes that their messages share. */
enum gn_net_compress {
	GN_NET_COMPRESS_COPIES, /* where the transport copies them */
	GN_NET_COMPRESS_NOT,
	GN_NET_COMPRESS
};

/*
 * How messages leave their node. The first form is the normal one; the others are the models with which
 * Gravel is compared (section 3, figure 15). The results of programs are the same.
 */
enum gn_net_form {
	GN_NET_COMBINED, /* messages of all threads by destination, while threads run */
	/* when a log is full or nothing more comes: all of them, and threads go on when they are done */
	GN_NET_COPROCESSOR,
	/* a packet for each destination of as many messages as a block has threads: 256 */
	GN_NET_COALESCED,
	GN_NET_MESSAGE_PER_LANE /* a packet for each message */
};

/* How kernels, and on cpu host threads, change memory of nodes of the same host. */
enum gn_net_route {
	GN_NET_PACKETS, /* by messages, in order */
	/*
	 * by themselves, where their machine reaches the heap (GPUs: over NVLink; processes: where the system
	 * lets one have the other's memory), in the order of gn_net_fence only. Memory that is not of the
	 * heap, calls and waits go by messages
	 */
	GN_NET_DIRECT
};

/*
 * Zero is a good default for every member.
 *
 * On cuda node k runs on GPU k modulo the number of GPUs; several nodes may share a GPU. With "cuda:1" all
 * nodes run on that GPU. The heap is in the GPU's memory: the host reads and changes it by gn_net_put,
 * gn_net_get and their like only. A kernel stays on the GPU for the whole run; it sorts messages and changes
 * the heap. The kernels of all nodes of a GPU take a quarter of it at most, but each at least 3 of its
 * multiprocessors (2 if the network thread sorts); where they would take all, the run is refused. Kernels
 * that wait for other nodes of the same GPU should leave room for them. Memory that is freed (simt_free)
 * meanwhile is available only after the run.
 */
struct gn_net_options {
	struct simt_options machine; /* of each node; name NULL: "cpu", threads 0: one OS thread a node */
	const char *transport;       /* "local", "mpi"; NULL: see above */
	uint32_t nodes;              /* of "local"; 0: 1. "mpi" has as many as its launcher started */
	/* of the grid in which nodes stand: 1 sends directly, more in two ways; 0: chosen */
	uint32_t columns;
	uint64_t heap_bytes;   /* of each node; 0: 64 MiB */
	uint64_t shared_bytes; /* cuda: of symmetric memory that the host reaches too; 0: 1 MiB */
	/* static data that is symmetric too, where every node is a process; 8-byte aligned; cpu */
	void *data;
	uint64_t data_bytes; /* of it, the same on all nodes */
	/* messages of a processor that wait for the network thread; 0: 1 MiB, cuda 256 KiB */
	uint64_t log_bytes;
	uint64_t packet_bytes; /* a packet with so many is sent, up to 64 KiB; 0: 64 KiB */
	uint64_t flush_ns;     /* a packet that grows slowly is sent when it is that old; 0: 125 us */
	enum gn_net_compress compress;
	enum gn_net_form form;
	enum gn_net_route route;
	/* 1: on cpu too a kernel sorts the messages of kernels and changes the heap, as on cuda: to test it
	 */
	uint32_t by_kernel;
	uint32_t host_sorts; /* 1: the network thread sorts them, also on cuda: to compare */
	uint64_t timeout_ns; /* of every wait for another node; 0: 30 s */
};

/* What a node did and how well packets were filled. */
struct gn_net_statistics {
	/* messages taken from the logs; messages of other nodes that were applied */
	uint64_t sent, applied;
	uint64_t calls, called;         /* active messages sent, and run here; the own ones too */
	uint64_t passed;                /* messages sorted once more here */
	uint64_t packets, packet_bytes; /* sent */
	uint64_t message_bytes;         /* of the messages in them */
	/* why packets were sent: full; old; somebody waits for what is in them */
	uint64_t full, aged, urgent;
	uint64_t size[17];          /* packets of 2^k to 2^(k+1) - 1 bytes */
	uint64_t stalls;            /* times that messages had to wait for a buffer */
	uint64_t turns, idle_turns; /* of the network thread; and those in which nothing moved */
	uint64_t buffer_bytes;      /* of packets, at most */
};

/*
 * gn_net_run - run a program on all nodes.
 * @node  is called once for each node of this process, on a thread of its own. The run ends when it has
 *        returned on all nodes. If it returns a negative code on one node, waits on all other nodes end with
 *        this code, and gn_net_failure names the node. If the network of a node fails, its waits end too
 * Host. Returns when all nodes of this process have ended. Returns the first code of `node` that is not 0,
 * of a node that failed by itself if there is one (error has the network's message), or 0; or -GN_EINVAL (an
 * option; not the thread that initialised MPI), -GN_ENOMEM, -GN_ENODEV (no such transport or machine: the
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

/* gn_net_device, gn_net_host - net for the kernels of the node's machine, and for its host threads. */
struct gn_net_view gn_net_device(const struct gn_net *net);
const struct gn_net_view *gn_net_host(const struct gn_net *net);

/*
 * gn_net_alloc - symmetric memory, zeroed, aligned to 64 bytes. Every node makes the same calls of alloc and
 * free, in the same order. Then the memory has the same symmetric address on all nodes. Before a node uses
 * it on another node, both pass a gn_net_barrier. Host, one thread at a time. Returns NULL if the heap has
 * not enough room.
 */
void *gn_net_alloc(struct gn_net *net, uint64_t bytes);

/*
 * gn_net_alloc_aligned - the same, at a multiple of alignment: a power of two, up to 16 MiB in heaps of 32
 * MiB and more, else up to 4096.
 */
void *gn_net_alloc_aligned(struct gn_net *net, uint64_t alignment, uint64_t bytes);

/*
 * gn_net_alloc_shared - as gn_net_alloc, for memory that the machine and its host both reach: on cpu the
 * heap, on cuda memory of the host. Only messages change this memory, also those of a kernel to its own
 * node.
 */
void *gn_net_alloc_shared(struct gn_net *net, uint64_t bytes);

/*
 * gn_net_bytes - the bytes that are allocated at memory, a multiple of 64; 0 if none are. Host, one thread
 * at a time.
 */
uint64_t gn_net_bytes(const struct gn_net *net, const void *memory);

/* gn_net_free - free symmetric memory, on every node. NULL does nothing. */
void gn_net_free(struct gn_net *net, void *memory);

/* An active message that has come. */
struct gn_net_incoming {
	/* to send with: put, change and call; nothing that waits, at most 16 KiB */
	const struct gn_net_view *net;
	uint32_t from;
	uint32_t bytes;
	const void *payload; /* 8-byte aligned, borrowed until return */
};
typedef void gn_net_handler_fn(const struct gn_net_incoming *message, void *context);

/*
 * gn_net_handler - register a function that runs when gn_net_call names the number that this returns.
 * @name  every node registers the same names in the same order, before the handler is called. Up to 55 bytes
 *        of them are compared; node 0 fails if another node has a different name (-GN_EINVAL; gn_net_message
 *        has both)
 * Handlers run on the network thread, one after the other, and must not wait. They do not reach a GPU's
 * memory. Host. Returns a number from 0, -GN_EINVAL (the name is taken), -GN_ENOBUFS (64 are registered), or
 * -GN_ETIMEDOUT (the name could not be sent).
 */
int gn_net_handler(struct gn_net *net, const char *name, gn_net_handler_fn *handler, void *context);

/* gn_net_failure - the first failure of this node's operations; its code, 0: none. Any thread. */
int gn_net_failure(const struct gn_net *net, struct gn_net_fault *fault);

/* gn_net_message - the network's own failure in words, "" if there was none. Borrowed. */
const char *gn_net_message(const struct gn_net *net);

/*
 * gn_net_get_statistics - fill statistics with what the node did so far. The values are exact while no
 * message
 * is under way. Any thread.
 */
void gn_net_get_statistics(const struct gn_net *net, struct gn_net_statistics *statistics);

/*
 * gn_net_waits - a row of the wait matrix: for how long this node has waited for each other node.
 * @ns  [nodes] receives the time since that node last answered; 0 if it owes no answer
 * Any thread.
 */
void gn_net_waits(const struct gn_net *net, uint64_t *ns);

/*
 * gn_net_waited - the same for the past: for how long each other node owed this node replies or answers.
 * @ns  [nodes] receives the total time, without the answers that are owed now
 * Any thread.
 */
void gn_net_waited(const struct gn_net *net, uint64_t *ns);

/*
 * gn_net_settle - wait until no message is in flight on any node, also none that a handler sent because of
 * another message. All nodes call it, one host thread each; it is a barrier too. Codes as gn_net_quiet.
 */
int gn_net_settle(struct gn_net *net);

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
 * Operations of different threads, or to different nodes, are done in any order. An operation on the caller's
 * own node is done at once, by the thread itself, where it reaches the memory; calls are not. All are done
 * everywhere behind gn_net_quiet. Changes are indivisible, and relaxed.
 *
 * On the route GN_NET_DIRECT a thread does its operations itself in the heaps that it reaches. Then
 * different elements may change in another order, until gn_net_fence. They may also change before the
 * thread's earlier messages are done (calls, and operations on heaps or memory that it does not reach),
 * until gn_net_quiet.
 *
 * Operations without a result return when the message is in the log; they wait only while the node's log is
 * full. Operations with a result wait for the other node, at most for the time-out; lanes that call together
 * wait together.
 *
 * Return 0; -GN_EINVAL (no such node, an address that is not a multiple of the size); -GN_ERANGE (not in
 * symmetric memory); -GN_ETIMEDOUT (the log stayed full, or the node did not answer: the operation may have
 * been done); -GN_EIO (messages were lost); the code that the other node answered; or, if the program of any
 * node or the network of this one failed, its code, because then all waits end. The node keeps the first
 * failure: gn_net_failure.
 */

/* gn_net_put_T - store a value. */
SIMT_FN int gn_net_put_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value);
SIMT_FN int gn_net_put_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value);

/*
 * gn_net_put - store bytes, of any number and alignment, which do not overlap. The source may be used again
 * at once. Bytes that cross multiples of 4096 of this transfer may arrive apart.
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
 * @bytes    of the payload, at most GN_NET_MOST_CALL_BYTES
 */
SIMT_FN int gn_net_call(const struct gn_net_view *n, uint32_t pe, uint32_t handler, const void *payload,
                        uint32_t bytes);

/* gn_net_get_T - load an element. @value  receives it, 0 on failure */
SIMT_FN int gn_net_get_u32(const struct gn_net_view *n, uint32_t pe, const uint32_t *from, uint32_t *value);
SIMT_FN int gn_net_get_u64(const struct gn_net_view *n, uint32_t pe, const uint64_t *from, uint64_t *value);

/*
 * gn_net_get_nb - load bytes without waiting for them.
 * @to  memory that the node's network reaches, or for a GPU's thread: that the thread reaches. Its bytes are
 *      undefined and borrowed until gn_net_quiet
 * gn_net_get - the same, and wait for them.
 */
SIMT_FN int gn_net_get_nb(const struct gn_net_view *n, uint32_t pe, const void *from, void *to,
                          uint64_t bytes);
SIMT_FN int gn_net_get(const struct gn_net_view *n, uint32_t pe, const void *from, void *to, uint64_t bytes);

/*
 * gn_net_fetch_CHANGE_T, gn_net_swap_T, gn_net_cas_T - as gn_net_CHANGE_T; *before receives the old element.
 * swap stores a value. cas stores value if the element equals expected; it has done so if *before is
 * expected.
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
 * gn_net_quiet - wait until all operations that this thread has sent, to any node, are done there, and all
 * bytes of its gn_net_get_nb have arrived. This does not include messages that handlers sent because of them
 * (gn_net_settle).
 */
SIMT_FN int gn_net_quiet(const struct gn_net_view *n);

/*
 * gn_net_fence - operations that this thread sends to a node after the fence are done there after those that
 * it sent to that node before. Messages of one thread to one node keep their order in any case. The fence
 * also orders them with the thread's own loads and stores; on the route GN_NET_DIRECT it orders the thread's
 * direct operations before later messages. To order direct operations after earlier messages call
 * gn_net_quiet.
 */
SIMT_FN void gn_net_fence(const struct gn_net_view *n);

/*
 * gn_net_wait_until_ge_u64 - wait until an element of this node's memory, which other threads or nodes
 * change, is value or more.
 * @element  memory that the caller loads: for a host thread not the heap of a GPU
 */
SIMT_FN int gn_net_wait_until_ge_u64(const struct gn_net_view *n, const uint64_t *element, uint64_t value);

/* ---- kernels and hosts: nodes together ---- */

/*
 * One thread of every node of the team calls the same functions in the same order, a host thread or a thread
 * of a kernel. They wait for the other nodes, each time for at most the time-out. Return as gn_net_put, and
 * -GN_EINVAL: no such team, or this node is not of it. gn_net_failure names the node for which this one
 * waited; that node may itself have waited for another.
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
 * gn_net_team_rank - this node's rank in a team. Returns 0 or -GN_EINVAL: no such team, or the node is not
 * of it.
 */
SIMT_FN int gn_net_team_rank(const struct gn_net_view *n, const struct gn_net_team *t, uint32_t *rank);

/*
 * gn_net_team_sync - wait until all nodes of the team have come here. Earlier messages may still be in
 * flight.
 */
SIMT_FN int gn_net_team_sync(const struct gn_net_view *n, const struct gn_net_team *team);

/* gn_net_team_barrier, gn_net_barrier - quiet, then wait until all nodes have come here. */
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
 * @elements  count elements of `bytes` (up to 512) each, in any memory: this node's elements before, the
 *            result after; undefined after a failure
 * @combine   combines two nodes' elements; context is handed to it
 */
SIMT_INLINE_FN int gn_net_team_reduce(const struct gn_net_view *n, const struct gn_net_team *team,
                                      void *elements, uint64_t count, uint32_t bytes,
                                      gn_net_combine_fn *combine, uint64_t context);

/*
 * gn_net_team_reduce_u64, gn_net_reduce_u64 - combine the words of all nodes, and return the result on all
 * of them.
 * @change  GN_ADD, GN_ADD_FLOAT (the words are f64), GN_MIN, GN_MAX, GN_AND, GN_OR or GN_XOR
 * @words   count words, in any memory: this node's words before, the result after; undefined after a failure
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
