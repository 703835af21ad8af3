/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - what the programs of bench/ share: options, machines, timed launches, medians, JSON. Clocks and
 * statistics are those of scope (scope/sampling.h). A program that cannot go on says why and ends: with exit
 * status 77 where there is no such device, else 1.
 */
#ifndef GN_BENCH_ENGINE_H
#define GN_BENCH_ENGINE_H

#include <time.h>

#include <jansson.h>

#include <grapnel/simt.h>

#include "scope/sampling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* bench_must - end the program unless rc is 0. @text  why, as it stands after the call that gave rc */
void bench_must(int rc, const char *text);

/* bench_must_run - the same of a call that was given &bench_error, and says there why. */
void bench_must_run(int rc);
extern struct gn_error bench_error;

/*
 * bench_text, bench_number - the value of the argument NAME=VALUE, or `otherwise`. bench_begin comes first:
 * an argument whose name is not in `names`, "machine scale runs", ends the program with exit status 2.
 */
void bench_begin(int argc, char **argv, const char *names);
const char *bench_text(const char *name, const char *otherwise);
uint64_t bench_number(const char *name, uint64_t otherwise);

/* bench_word - which of the words the argument's value is, counted from 0. NULL ends the words. */
int bench_word(const char *name, const char *const *words);

/* bench_machine - open one. @threads, @width  of cpu; 0: the default */
struct simt_machine *bench_machine(const char *name, unsigned threads, unsigned width);

/* bench_alloc - simt_alloc that ends the program where there is no memory. */
void *bench_alloc(struct simt_machine *m, size_t bytes, enum simt_memory where);

/* bench_launch - a kernel to its end. Returns the seconds it took. */
double bench_launch(struct simt_machine *m, const struct simt_kernel *kernel, struct simt_grid grid,
                    const void *arguments);

/* bench_clock_ns - a clock of processors' time, such as CLOCK_THREAD_CPUTIME_ID, in nanoseconds. */
double bench_clock_ns(clockid_t of);

double bench_median(const double *value, uint32_t count);

/* bench_print - a JSON object on stdout; takes it over. */
void bench_print(json_t *root);

#ifdef __cplusplus
}
#endif

#endif
