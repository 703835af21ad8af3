/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.cu - what a GPU's threads start: latency, its growth under load, random access, atomics, signals,
 * pieces.
 */
#include "scope/device/device.h"

extern "C" const struct scope_row *const scope_device_rows[] = {
    &scope_gpu_chase_rows[0],    &scope_gpu_chase_rows[1],    &scope_gpu_chase_rows[2],
    &scope_gpu_loaded_rows[0],   &scope_gpu_loaded_rows[1],   &scope_gpu_loaded_rows[2],
    &scope_gpu_random_rows[0],   &scope_gpu_random_rows[1],   &scope_gpu_random_rows[2],
    &scope_gpu_random_rows[3],   &scope_gpu_random_rows[4],   &scope_gpu_random_rows[5],
    &scope_gpu_atomic_rows[0],   &scope_gpu_atomic_rows[1],   &scope_gpu_atomic_rows[2],
    &scope_gpu_atomic_rows[3],   &scope_gpu_atomic_rows[4],   &scope_gpu_atomic_rows[5],
    &scope_gpu_signal_rows[0],   &scope_gpu_signal_rows[1],   &scope_gpu_signal_rows[2],
    &scope_gpu_signal_rows[3],   &scope_gpu_signal_rows[4],   &scope_gpu_signal_rows[5],
    &scope_gpu_signal_rows[6],   &scope_gpu_signal_rows[7],   &scope_gpu_signal_rows[8],
    &scope_gpu_pingpong_rows[0], &scope_gpu_pingpong_rows[1], &scope_gpu_pingpong_rows[2],
    &scope_gpu_pieces_rows[0],   &scope_gpu_pieces_rows[1],   &scope_gpu_pieces_rows[2],
    &scope_gpu_pieces_rows[3],   &scope_gpu_pieces_rows[4],   NULL};
