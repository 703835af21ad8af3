/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the sim machine of simt: kernels run as on the cpu machine, in warps of 32, and what their lanes
 * do to memory is recorded as a stream that the timing model runs.
 *
 * Kernels are to be compiled with gn_observed. Memory from simt_alloc and simt_register is the simulated one:
 * its pages are numbered in the order in which they were asked for, so a stream knows no addresses of this
 * process. All of it is on one OS thread, which launches return from when they are over; lanes take turns as
 * the seed says. So the same program with the same seed makes the same stream.
 */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include <stdio.h>

#include <grapnel/simt.h>

/* Threads that it runs at once: 64 blocks of 128. */
enum { SIM_RECORD_THREADS = 8192 };

/*
 * sim_record_open - a machine that writes what it does to a file. Streams other than the machine's own there
 * are none; blocks have at most 512 threads.
 * @machine  receives it; owned, simt_close
 * @to       borrowed until simt_close; written from its beginning
 * Returns 0, -GN_EIO, -GN_ENOMEM.
 */
int sim_record_open(struct simt_machine **machine, FILE *to, uint64_t seed, struct gn_error *error);

/*
 * sim_record_end - the stream is whole, and what the kernels computed is right: only now can it be read.
 * Returns 0, or the first code that recording failed with: -GN_EIO, -GN_ENOMEM, -GN_EFBIG.
 */
int sim_record_end(struct simt_machine *machine, struct gn_error *error);

#endif
