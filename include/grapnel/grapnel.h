/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel.h - all headers of Grapnel for C, except shmem.h. Each also compiles alone.
 *
 *   open.h    an array and what it stands on, by one call  (start here)
 *   array.h   elements: what kernels read and write
 *   gather.h  many rows at once, by their numbers
 *   auto.h    an array that chooses how it reads its store
 *   slots.h   items of any size in numbered slots of device memory, for batches of keys
 *   cache.h   pages of stores in frames of fast memory
 *   store.h   where bytes rest, opened by URI
 *   nvmeq.h   NVMe queue pairs that thousands of threads share; ring.h, nvme.h below it
 *   net.h     small messages between nodes
 *   simt.h    kernels, machines, lanes, atomics
 *   explore.h a kernel under every schedule, for tests
 *   trace.h   the steps of a request, named where they happen
 *   error.h   codes and messages
 *   version.h which Grapnel this is
 */
#ifndef GRAPNEL_GRAPNEL_H
#define GRAPNEL_GRAPNEL_H

#include <grapnel/array.h>
#include <grapnel/auto.h>
#include <grapnel/gather.h>
#include <grapnel/cache.h>
#include <grapnel/error.h>
#include <grapnel/net.h>
#include <grapnel/nvme.h>
#include <grapnel/nvmeq.h>
#include <grapnel/open.h>
#include <grapnel/ring.h>
#include <grapnel/simt.h>
#include <grapnel/slots.h>
#include <grapnel/explore.h>
#include <grapnel/store.h>
#include <grapnel/trace.h>
#include <grapnel/version.h>

#endif
