/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - the other processes, where an MPI launcher started several. Rank 0 makes the run; the others take
 * part in the cells that need them. The functions are there in builds with MPI only; the rest declares them
 * weak.
 */
#ifndef GN_SCOPE_RANKS_H
#define GN_SCOPE_RANKS_H

#include "scope/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * scope_machine_find_ranks - if a launcher started this process: initialise MPI, and fill in m->rank and
 * m->ranks. Otherwise nothing.
 */
void scope_machine_find_ranks(struct scope_machine *m);

/*
 * scope_ranks_serve - of the ranks but 0: do what rank 0 asks for, asleep in between, until it ends the run.
 * 0, -GN_EIO.
 */
int scope_ranks_serve(struct gn_error *e);

/* scope_ranks_end - of rank 0: let the others go, and finalise MPI. Nothing where there are none. */
void scope_ranks_end(void);

#ifdef __cplusplus
}
#endif

#endif
