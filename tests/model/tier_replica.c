/* SPDX-License-Identifier: Apache-2.0 */
/* A tier over a replica under every kind of schedule: lines leave while members fail and are put back. */
#define TIER 1
#include "replica.c"
