/* SPDX-License-Identifier: Apache-2.0 */
/* mpp/shmem.h - where programs from Cray's and SGI's times look for shmem.h. */
#ifndef GRAPNEL_MPP_SHMEM_H
#define GRAPNEL_MPP_SHMEM_H

#include "../shmem.h"

#endif
