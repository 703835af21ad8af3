/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.cu - what a GPU's threads start: latency, its growth under load, random access, atomics, signals,
 * pieces.
 */
#include "scope/device/device.h"

extern "C" const struct scope_row_table *const scope_device_rows[] = {
    &scope_gpu_chase_rows,  &scope_gpu_loaded_rows,   &scope_gpu_random_rows, &scope_gpu_atomic_rows,
    &scope_gpu_signal_rows, &scope_gpu_pingpong_rows, &scope_gpu_pieces_rows, NULL};
