/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - measuring every way to move data: what a row is, how it is measured, what comes out.
 *
 *   row      one way to move data, such as a copy from pinned host memory to a device: a name, a plan, and
 *            how one sample is taken. Rows of the host are in scope/host/, those of GPUs in scope/cuda/.
 *   cell     a row with its arguments: bytes, and whatever else it is swept over. What is measured.
 *   sample   one timed region: so many operations, back to back, that the clock's resolution does not matter.
 *   round    a cell opened, sampled, verified and closed. Each draws other pages and another moment of the
 *            run.
 *   result   a cell's samples of all its rounds, or why there are none.
 *   report   the results of one run and the machine they were measured on.
 *
 * The road of a run: scope_machine_find, scope_plan_make, scope_run with its rounds of each cell, and the
 * report's writers in scope/output.h. A row that fails, or whose data is wrong, is marked and the run goes
 * on.
 *
 * Units: bytes, seconds, operations; 1 GB is 1e9 bytes. Bytes are those a user asked to move, every direction
 * counted once. Sources: Comm|Scope, section 2 and Table 1; Google Benchmark's JSON.
 */
#ifndef GN_SCOPE_H
#define GN_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <grapnel/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	SCOPE_MOST_ARGS = 6,
	SCOPE_MOST_ROUNDS = 8,
	SCOPE_MOST_GPUS = 16,
	SCOPE_MOST_NODES = 64,
	SCOPE_WHY = 240,
	SCOPE_NAME = 256
};

/* ---- the machine ---- */

struct scope_gpu {
	char name[64];
	uint64_t memory_bytes, free_bytes;
	uint64_t l2_bytes;
	uint32_t processors;
	uint32_t compute; /* compute capability, 90 for 9.0 */
	/* 0: not known; of the link under load where that could be read */
	uint32_t pcie_generation, pcie_width;
	bool managed;               /* concurrent access to managed memory */
	bool peer[SCOPE_MOST_GPUS]; /* can reach that device's memory */
};

struct scope_node {
	uint32_t number; /* the system's own */
	uint64_t free_bytes;
	uint32_t cpus;
};

enum scope_effort { SCOPE_QUICK, SCOPE_NORMAL, SCOPE_FULL };

/*
 * What a run is made on, and how much of it may be used. Found once by scope_machine_find; rows read it.
 */
struct scope_machine {
	uint32_t cpus;        /* that this process may use */
	uint64_t free_bytes;  /* of host memory */
	uint64_t cache_bytes; /* of the host's last level; 0: not known */
	uint32_t line_bytes;
	uint64_t huge_page_bytes; /* explicit huge pages that are free; 0: none */
	uint32_t nodes;
	struct scope_node node[SCOPE_MOST_NODES];
	uint32_t gpus;
	struct scope_gpu gpu[SCOPE_MOST_GPUS];
	const char *no_gpu;    /* why there is none, for the rows that need one */
	uint32_t rank, ranks;  /* of MPI, 0 of 1 without it */
	const char *directory; /* where rows may make files, borrowed from the options */
	double host_tick;      /* seconds: the least step of the host's clock */
	double event_tick;     /* the same of a device's events; 0 without a GPU */
	/* limits of this run */
	enum scope_effort effort;
	uint64_t most_bytes;                /* of one buffer */
	double most_seconds;                /* of warming up and sampling in one round of a cell */
	uint32_t most_samples;              /* of a round */
	uint32_t least_rounds, most_rounds; /* of a cell, up to SCOPE_MOST_ROUNDS */
	double spread; /* stop when the 95 % interval of the median is within this share of it */
	/* seconds after which a round of a cell is given up, everything included */
	double deadline;
};

/* ---- cells ---- */

struct scope_row;

/*
 * An independent variable. The name is a constant such as "bytes", "threads", "gpu", "from", "to", "stride".
 */
struct scope_arg {
	const char *name;
	uint64_t value;
};

struct scope_cell {
	const struct scope_row *row;
	uint32_t args;
	/* in the order they were planned, "bytes" first where there is one */
	struct scope_arg arg[SCOPE_MOST_ARGS];
};

/* scope_cell_arg - an argument's value, or `otherwise` where the cell has none of that name. */
uint64_t scope_cell_arg(const struct scope_cell *c, const char *name, uint64_t otherwise);

/*
 * scope_cell_name - "row/bytes:4096/threads:2", as --filter matches it and reports carry it; SCOPE_NAME is
 * room enough.
 */
void scope_cell_name(const struct scope_cell *c, char *text, uint32_t room);

/*
 * What will be measured, in order. A row's plan adds cells, or says why there can be none.
 */
struct scope_plan;

/* scope_plan_add - a cell of the row being planned; args ends with {NULL, 0}. Returns 0 or -GN_ENOMEM. */
int scope_plan_add(struct scope_plan *p, const struct scope_arg *args);

/*
 * scope_plan_sizes - a cell for every power of two from least to most bytes, at most the machine's
 * most_bytes; SCOPE_QUICK takes every fourth power up to 128 MiB (rows of the host's memory: more, where its
 * last cache is larger than half of that), and the ends. `rest` are further arguments, ended by {NULL, 0}, or
 * NULL.
 */
int scope_plan_sizes(struct scope_plan *p, uint64_t least, uint64_t most, const struct scope_arg *rest);

/* scope_plan_skip - the row (or these arguments of it, or NULL) cannot be run here: why, what is missing. */
int scope_plan_skip(struct scope_plan *p, const struct scope_arg *args, const char *why, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- rows ---- */

enum scope_unit {
	SCOPE_BANDWIDTH, /* bytes a second */
	SCOPE_LATENCY,   /* seconds an operation */
	SCOPE_RATE,      /* operations a second */
};

/* What a row is beside others that do the same work. Those of one machine's transfers have none. */
enum scope_role {
	SCOPE_NO_ROLE,
	SCOPE_BOUND,    /* what the machine can do, without anybody's bookkeeping: "limit" in files */
	SCOPE_BASELINE, /* how it is done without Grapnel */
	SCOPE_OURS
};

enum scope_timer {
	SCOPE_HOST_CLOCK,   /* CLOCK_MONOTONIC_RAW around operations that are over when they return */
	SCOPE_EVENTS,       /* events on the device around asynchronous operations, behind a gate */
	SCOPE_DEVICE_CLOCK, /* read inside the kernel */
};

/* What one sample came to. */
struct scope_sample {
	double seconds;      /* of the timed region */
	uint64_t operations; /* in it */
	uint64_t bytes;      /* in it, in all directions together; 0 where the unit is not a bandwidth */
	double second;       /* a second dependent variable, such as the load of a loaded latency; 0: none */
};

/*
 * What rows do, one for all that do it in the same way. All functions return 0 or a negative code with a
 * message in e; no row aborts, prints or changes settings of the system.
 */
struct scope_functions {
	/* of what a cell that is open keeps: zero when open is called, freed behind close */
	size_t state_bytes;

	/* plan - add this row's cells, or skip it with what is missing. Touches no device. */
	int (*plan)(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p);

	/*
	 * open - memory of the cell, filled with a pattern that differs with position. -GN_ENOTSUP: not to be
	 * had on this machine, the cell counts as skipped.
	 */
	int (*open)(const struct scope_cell *c, const struct scope_machine *m, void *state,
	            struct gn_error *e);

	/*
	 * sample - `operations` operations in one timed region. What must not be timed (filling, flushing,
	 * synchronising before) is done before the clock is read. May do fewer, and says so in s.
	 */
	int (*sample)(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e);

	/*
	 * verify - is every byte that the last sample moved where and what it should be? GN_EIO: no, e says
	 * which.
	 */
	int (*verify)(void *state, struct gn_error *e);

	/* close - everything that open took; also after an open that failed, wherever it was. */
	void (*close)(void *state);
};

/* A way to move data. */
struct scope_row {
	const char *name;      /* family/what, such as "copy/pinned-to-device": words with hyphens */
	const char *summary;   /* one line: what is timed */
	const char *paper;     /* the rows of Comm|Scope's Table 1 that it is, such as "10"; NULL: none */
	const char *direction; /* "h2d", "d2h", "both", "d2d", "h2h", "d2d-both", "none" */
	/*
	 * The link that bounds it, such as "pcie", "nvlink", "memory", or the name of the row that is 100 %;
	 * NULL: none is known.
	 */
	const char *limit;
	/* name and unit of scope_sample.second, such as "load_bytes_per_second"; NULL: none */
	const char *second;
	enum scope_unit unit;
	enum scope_timer timer;
	const struct scope_functions *functions; /* NULL: measured by somebody else */
	enum scope_role role;
};

/* Rows of one kind: elements of so many bytes, each of which begins with a struct scope_row. */
struct scope_row_table {
	const void *rows;
	size_t row_bytes;
	uint32_t count;
};

/* scope_row_at - the k-th. */
const struct scope_row *scope_row_at(const struct scope_row_table *t, uint32_t k);

/*
 * The rows, tables of them ended by NULL: scope/host, messages between processes, scope/cuda (what the host
 * starts), scope/device (what a GPU's threads start), scope/grapnel. Those of MPI and of GPUs are there in
 * builds with them only.
 */
extern const struct scope_row_table *const scope_host_rows[];
extern const struct scope_row_table *const scope_mpi_rows[];
extern const struct scope_row_table *const scope_cuda_rows[];
extern const struct scope_row_table *const scope_device_rows[];
extern const struct scope_row_table *const scope_grapnel_rows[];

/* ---- a run ---- */

enum scope_status { SCOPE_MEASURED, SCOPE_SKIPPED, SCOPE_FAILED };

struct scope_result {
	struct scope_cell cell;
	enum scope_status status;
	/* of one that was skipped or failed; of a measured one, what to know about it, or "" */
	char why[SCOPE_WHY];
	uint32_t samples;
	double *value;       /* of each sample, in the row's unit; owned */
	double *second;      /* of each sample, or NULL; owned */
	double *seconds;     /* of each sample's operation, by its clock; owned */
	uint64_t operations; /* in a sample of the last round */
	uint64_t bytes;      /* moved by such a sample */
	uint32_t rounds;
	uint32_t end[SCOPE_MOST_ROUNDS]; /* samples up to the end of each round */
};

/* Of a result's values. Quantiles by linear interpolation between order statistics. */
struct scope_statistics {
	double least, p5, quarter, median, three_quarters, p95, most, mean;
	double variation; /* standard deviation / mean */
	double low, high; /* 95 % confidence interval of the median, from order statistics */
	uint32_t rounds;
	double least_round, most_round; /* medians of rounds; of one round its own */
};

/*
 * scope_statistics_of - all of them 0 without a value; fewer than 6 give the whole range as interval. Returns
 * 0, -GN_ENOMEM.
 */
int scope_statistics_of(const double *value, uint32_t count, struct scope_statistics *s);

/*
 * scope_statistics_of_rounds - the same of samples that were taken in rounds. Samples of a round have their
 * memory and their moment in common, and are less to go by than as many on their own: the interval holds that
 * of all samples and, of two rounds or more, the median +- t s / sqrt(rounds), where s is the standard
 * deviation of the rounds' medians and t Student's (97.5 %).
 * @end  samples up to the end of each round, the last is their number
 */
int scope_statistics_of_rounds(const double *value, const uint32_t *end, uint32_t rounds,
                               struct scope_statistics *s);

struct scope_report {
	/* the machine, the environment, the options: Google Benchmark's context and more */
	json_t *context;
	uint32_t results;
	struct scope_result *result;
};

/*
 * scope_machine_find - look at this machine, and set limits by effort. Changes nothing on it; what cannot be
 * found out is 0.
 * @directory  where rows may make files, borrowed
 */
void scope_machine_find(struct scope_machine *m, enum scope_effort effort, const char *directory);

/* scope_machine_find_host - the host's part of it; no GPU is looked for, and no other process. */
void scope_machine_find_host(struct scope_machine *m, enum scope_effort effort, const char *directory);

/*
 * scope_plan_make - the cells of every row whose cell name the POSIX extended expression matches (NULL: all).
 */
int scope_plan_make(const struct scope_machine *m, const char *filter, struct scope_plan **p,
                    struct gn_error *e);
void scope_plan_free(struct scope_plan *p);

/* The plan's cells; a skipped one has its reason in why, otherwise why is NULL. */
uint32_t scope_plan_count(const struct scope_plan *p);
const struct scope_cell *scope_plan_cell(const struct scope_plan *p, uint32_t k, const char **why);

/*
 * scope_measure - one round of a cell: open, warm up until samples are steady, choose how many operations a
 * sample has (a region of 1000 times the clock's resolution), sample until the interval is small or a limit
 * is reached, verify, close. A failure is in the result.
 * @samples  of a later round: as many as the first had, unless its time is over before; 0: this is the first
 */
void scope_measure(const struct scope_cell *c, const struct scope_machine *m, uint32_t samples,
                   struct scope_result *r);

/*
 * scope_measure_within - the same on a thread of its own; a round that is not over at the machine's deadline
 * has failed, and its thread is left alone with what it holds. Returns whether it came to an end.
 */
bool scope_measure_within(const struct scope_cell *c, const struct scope_machine *m, uint32_t samples,
                          struct scope_result *r);

/*
 * scope_result_pool - a further round joins a cell's result, and is empty afterwards. A round that failed
 * makes the whole fail: what is wrong at times is wrong. One that could not be opened any more is only
 * mentioned. Returns 0, or -GN_ENOMEM with the result as it was.
 */
int scope_result_pool(struct scope_result *r, struct scope_result *round);

/* scope_result_statistics - of a result's values, with its rounds. Returns 0, -GN_ENOMEM. */
int scope_result_statistics(const struct scope_result *r, struct scope_statistics *s);

/* How far a run is. */
struct scope_progress {
	uint32_t round;                  /* from 1: this pass over the cells */
	uint32_t cell, cells;            /* of this pass, from 0 */
	double seconds_left;             /* estimated; negative: not known yet */
	const struct scope_cell *next;   /* about to be measured; NULL: none */
	const struct scope_result *last; /* what was measured before, as far as it is; NULL: nothing */
	/* a cell that has all its rounds; NULL: none has just been finished */
	const struct scope_result *result;
};

/*
 * scope_run_seconds - how long a plan will take, about: each cell its least rounds, and the budget where that
 * is less.
 */
double scope_run_seconds(const struct scope_plan *p, const struct scope_machine *m, double budget);

/*
 * scope_run - measure a plan's cells, in passes over them: a round of each in order, then further rounds of
 * those that are not sure yet, the widest first where time is short. A cell that fails is marked, and so is
 * one that does not end; the rest of that row is left out then, and the run goes on.
 * @m       borrowed; its limits hold for each round
 * @budget  seconds for all: where it is short there are fewer rounds, then less time for each, and cells are
 *          left out only when it is over before their first; 0: no limit
 * @step    called by this thread before each round of a cell (with next), and for each cell when it is
 *          finished (with result); false leaves out the rest. NULL: nobody listens
 * @report  receives the results and the context, also when the run was cut short; to be freed by
 *          scope_report_free
 * Returns 0, -GN_ENOMEM.
 */
int scope_run(const struct scope_plan *p, const struct scope_machine *m, double budget,
              bool (*step)(void *user, const struct scope_progress *progress), void *user,
              struct scope_report *report);

void scope_result_free(struct scope_result *r);
void scope_report_free(struct scope_report *r);

/*
 * scope_environment - everything about this machine that a figure could depend on, as JSON, owned by the
 * caller; NULL: no memory. It is a report's context: Google Benchmark's date, host_name, num_cpus,
 * mhz_per_cpu, cpu_scaling_enabled, aslr_enabled, caches, load_avg, and run {effort, host_tick_seconds,
 * event_tick_seconds, most_bytes, most_seconds, most_samples, least_rounds, most_rounds, spread, ranks},
 * kernel, kernel_options [], cpu {model, governor, frequency_driver, turbo_off, boost, smt, ...}, memory
 * {total_bytes, free_bytes, transparent_huge_pages_enabled, ...}, nodes [{number, cpus, free_bytes,
 * distances}], virtual_machine {guest, hypervisor, vendor, product}, iommu {units, groups}, nvidia_driver,
 * uvm_parameters {}, gpu_links [{address, current_link_speed, current_link_width, max_link_speed,
 * max_link_width, numa_node}], gpus [struct scope_gpu's members], no_gpu, gpu_environment (scope/gpus.h).
 * null: not known here.
 */
json_t *scope_environment(const struct scope_machine *m);

/*
 * scope_environment_links - gpu_links as they are now. Links go down when nothing uses them: scope_run looks
 * again behind every cell that a device timed, and the report's context has the last as gpu_links_busy. At
 * its end it adds others_share: what other programs, and other guests as far as the system knows, used of all
 * processors meanwhile.
 */
json_t *scope_environment_links(void);

#ifdef __cplusplus
}
#endif

#endif
