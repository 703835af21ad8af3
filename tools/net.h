/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h - the subcommands that run on many nodes, and the forms of subcommands that do. A command says what
 * it is and what a node does (struct tool_net_command); tool_net_main reads its options, its graph, runs the
 * nodes, gathers what the network did, and prints or writes the result.
 *
 * Nodes are threads of this process, or the processes that a launcher started; then node 0 speaks.
 */
#ifndef GN_TOOL_NET_H
#define GN_TOOL_NET_H

#include <grapnel/net.h>

#include "tool.h"

enum { TOOL_NET_MATRIX = 32, TOOL_NET_OPTIONS = 8 };

/*
 * An option of a command: one of words, whose place is its value; a whole number from least to most; or,
 * where most is 0, a size of least bytes or more.
 */
struct tool_net_option {
	const char *name;
	int key; /* a letter; 0: none */
	const char *unit, *help;
	uint64_t otherwise; /* its value if nothing is said */
	uint64_t least, most;
	/* why the value cannot be, given those of all options; returns NULL if it can. NULL: it always can */
	const char *(*wrong)(uint64_t value, const uint64_t *all);
	const char *const *words;
};

struct tool_net_command;

/*
 * A command while it runs, the first member of what it keeps itself. Zero is nothing said, but for values of
 * options and config.nodes. The nodes of this process share it, and may change nothing in it but node 0's
 * own result.
 */
struct tool_net {
	const struct tool_net_command *command;
	struct gn_net_options config;
	uint64_t value[TOOL_NET_OPTIONS]; /* of the command's options, in their order */
	const char *text[TOOL_NET_OPTIONS];
	const char *json, *out, *path; /* path: of the graph or file */
	bool verify;
	/* of a command on a graph, which every process reads as a whole */
	bool undirected;
	struct gn_graph graph;
	void *got,
	    *want; /* 8 bytes a vertex, for what is found and for the reference; want: NULL unless verify */
	uint32_t *words; /* what --out writes, one a vertex; NULL without it */
	uint64_t unfit;  /* vertices whose result is no such word; node 0's */
	/* what node 0 has after the run; nodes 0: it was another process */
	uint32_t nodes;
	double seconds;
	struct gn_net_statistics stats; /* of all nodes */
	double wrong;                   /* of all nodes */
	uint64_t digest;                /* of all nodes; a command on a graph */
	/* nodes of the wait matrix; 0: none, or more than TOOL_NET_MATRIX */
	uint32_t waits;
	uint64_t waited_ns[TOOL_NET_MATRIX * TOOL_NET_MATRIX]; /* row: who waited, column: for whom */
};

/* What a node says of its run. */
struct tool_net_part {
	double seconds;
	struct gn_net_statistics stats; /* of this node */
	double wrong;    /* how much is not as the reference has it; 0 where nothing was compared */
	uint64_t digest; /* tool_net_digest, of a command on a graph */
};

struct tool_net_command {
	const char *name, *summary;
	const struct tool_net_option *options; /* the last is zero; at most TOOL_NET_OPTIONS */
	const char *argument;                  /* "FILE", or "GRAPH", which is read; NULL: none */
	const char *verify;                    /* help of --verify; NULL: it always verifies */
	const char *wrong;                     /* "words are wrong": said behind tool_net.wrong */
	/* before the run: the size of the heap, the reference if n->verify. Frees nothing if it fails */
	int (*prepare)(struct tool_net *n, struct gn_error *e);
	/* what a node does; node 0 keeps what print and report want */
	int (*node)(struct gn_net *net, struct tool_net *n, struct tool_net_part *part,
	            struct gn_error *error);
	/* the rest of the line that begins "PATH: N nodes, ", and lines behind it */
	void (*print)(const struct tool_net *n);
	/* members of the command's own; the driver adds schema, path, nodes, size of the graph, seconds, net
	 */
	json_t *(*report)(const struct tool_net *n);
	/* any of these may be NULL */
	const char *out; /* of a command on a graph: help of --out */
	/* what --out writes of a vertex of this node, from n->got; false: it has no room in 32 bits */
	bool (*word)(const struct tool_net *n, uint64_t vertex, uint32_t *word);
	double (*bound)(const struct tool_net *n); /* how much may be wrong; NULL: nothing */
	/* another message for a run that failed, or whose result is wrong: -GN_EBADMSG, and n->wrong is not 0
	 */
	int (*explain)(const struct tool_net *n, int rc, struct gn_error *e);
	void (*fini)(struct tool_net *n);
	bool simple; /* the graph is undirected, without loops and duplicate edges */
	/* where word may be false: what is said of such vertices, and what to do */
	const char *unfit;
};

/*
 * tool_net_main - a command from its options to its exit status.
 * @bytes  of what it keeps: a struct tool_net first, all zero
 */
int tool_net_main(const struct tool_net_command *c, size_t bytes, int argc, char **argv);

/* tool_net_launched - did an MPI launcher start this process? By the variables of gn_net_run (net.h). */
bool tool_net_launched(void);

/*
 * tool_net_asked - is a workload that has both forms to run over nodes? It is if the line has --nodes, or if
 * an MPI launcher started this process. Else it runs over a graph behind a store.
 */
bool tool_net_asked(int argc, char **argv);

/* The forms of subcommands that run over nodes. */
int tool_pagerank_net(int argc, char **argv);
int tool_sssp_net(int argc, char **argv);

/*
 * tool_net_options - the defaults of the command's options and the network's, then what the line says. A
 * wrong line ends the program.
 */
void tool_net_options(struct tool_net *n, int argc, char **argv);

/* tool_net_has_graph - is the command's argument a graph? */
bool tool_net_has_graph(const struct tool_net_command *c);

/* tool_net_not_a_power - for tool_net_option.wrong: a value that is 0 or a power of two is right. */
const char *tool_net_not_a_power(uint64_t value, const uint64_t *all);

/*
 * tool_net_least_nodes - those that a graph is certainly spread over, for the size of a node's heap. Unless
 * the transport is said to be local a launcher may have started any number; what a node does not use of its
 * heap costs it addresses only.
 */
uint32_t tool_net_least_nodes(const struct tool_net *n);

/* tool_net_vertices - the vertices of this node: from the one returned to *end, exclusive. */
uint32_t tool_net_vertices(struct gn_net *net, const struct tool_net *n, uint32_t *end);

/*
 * tool_net_digest - a number that stands for what this node has found. The sum over all nodes depends on the
 * results of all vertices only, so runs of different nodes and forms are compared by it.
 * @bytes  of a result in n->got: 4 or 8
 */
uint64_t tool_net_digest(struct gn_net *net, const struct tool_net *n, uint32_t bytes);

/* tool_net_gather - for --out: n->words of node 0's process get what all nodes found. All nodes call it. */
int tool_net_gather(struct gn_net *net, struct tool_net *n);

/* tool_net_write - for --out: write n->words. Returns 0, -GN_ERANGE (some have no room), or of the file. */
int tool_net_write(const struct tool_net *n, struct gn_error *e);

extern const char *const tool_net_forms[]; /* enum gn_net_form */

/* tool_net_print - a line on stdout: messages and packets. */
void tool_net_print(const struct gn_net_statistics *s);

/*
 * tool_net_json - the same, and more, as a new JSON object; NULL: no memory.
 * @n  whose wait matrix; NULL: there is none
 */
json_t *tool_net_json(const struct tool_net *n, const struct gn_net_statistics *s);

#endif
