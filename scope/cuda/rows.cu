/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/cuda/rows.h"

static_assert(SCOPE_COPY_ROWS == 28 && SCOPE_PEER_ROWS == 17 && SCOPE_MANY_ROWS == 5 &&
                  SCOPE_MANAGED_ROWS == 13 && SCOPE_ALLOCATION_ROWS == 8 && SCOPE_CALL_ROWS == 9,
              "every row of a table stands below");

extern "C" const struct scope_row *const scope_cuda_rows[] = {
    &scope_copies[0].row,      &scope_copies[1].row,      &scope_copies[2].row,
    &scope_copies[3].row,      &scope_copies[4].row,      &scope_copies[5].row,
    &scope_copies[6].row,      &scope_copies[7].row,      &scope_copies[8].row,
    &scope_copies[9].row,      &scope_copies[10].row,     &scope_copies[11].row,
    &scope_copies[12].row,     &scope_copies[13].row,     &scope_copies[14].row,
    &scope_copies[15].row,     &scope_copies[16].row,     &scope_copies[17].row,
    &scope_copies[18].row,     &scope_copies[19].row,     &scope_copies[20].row,
    &scope_copies[21].row,     &scope_copies[22].row,     &scope_copies[23].row,
    &scope_copies[24].row,     &scope_copies[25].row,     &scope_copies[26].row,
    &scope_copies[27].row,     &scope_peers[0].row,       &scope_peers[1].row,
    &scope_peers[2].row,       &scope_peers[3].row,       &scope_peers[4].row,
    &scope_peers[5].row,       &scope_peers[6].row,       &scope_peers[7].row,
    &scope_peers[8].row,       &scope_peers[9].row,       &scope_peers[10].row,
    &scope_peers[11].row,      &scope_peers[12].row,      &scope_peers[13].row,
    &scope_peers[14].row,      &scope_peers[15].row,      &scope_peers[16].row,
    &scope_many[0].row,        &scope_many[1].row,        &scope_many[2].row,
    &scope_many[3].row,        &scope_many[4].row,        &scope_manageds[0].row,
    &scope_manageds[1].row,    &scope_manageds[2].row,    &scope_manageds[3].row,
    &scope_manageds[4].row,    &scope_manageds[5].row,    &scope_manageds[6].row,
    &scope_manageds[7].row,    &scope_manageds[8].row,    &scope_manageds[9].row,
    &scope_manageds[10].row,   &scope_manageds[11].row,   &scope_manageds[12].row,
    &scope_allocations[0].row, &scope_allocations[1].row, &scope_allocations[2].row,
    &scope_allocations[3].row, &scope_allocations[4].row, &scope_allocations[5].row,
    &scope_allocations[6].row, &scope_allocations[7].row, &scope_calls[0].row,
    &scope_calls[1].row,       &scope_calls[2].row,       &scope_calls[3].row,
    &scope_calls[4].row,       &scope_calls[5].row,       &scope_calls[6].row,
    &scope_calls[7].row,       &scope_calls[8].row,       NULL};
