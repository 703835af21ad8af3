/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own primitives, each on the cpu machine and on the cuda machine. */
#include "fixture.h"

/* The rows of one machine. What is far comes in and goes out over a link. */
/* clang-format off */
#define ROWS(machine, in, out, link) \
    {"grapnel-" machine "/page-in", \
     "random pages that are not in the cache, brought in by so many warps at once", NULL, in, link, \
     NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_page_in}, \
    {"grapnel-" machine "/miss", "one warp after one page that is not in the cache", NULL, in, link, \
     NULL, SCOPE_LATENCY, SCOPE_HOST_CLOCK, &scope_miss}, \
    {"grapnel-" machine "/plain", \
     "words one after the other by plain loads, the limit of hit-scalar and hit-cursor", NULL, "none", \
     "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_hit}, \
    {"grapnel-" machine "/hit-scalar", "words in the cache one after the other, gn_read_u32", NULL, \
     "none", "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_hit}, \
    {"grapnel-" machine "/hit-cursor", "words in the cache one after the other, through a cursor", NULL, \
     "none", "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_hit}, \
    {"grapnel-" machine "/plain-wide", \
     "words one after the other, 16 bytes a load, the limit of hit-page and hit-range", NULL, "none", \
     "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_hit}, \
    {"grapnel-" machine "/hit-page", "words in the cache by page reference, 16 bytes a load", NULL, \
     "none", "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_hit}, \
    {"grapnel-" machine "/hit-range", "words in the cache by a range loop, 16 bytes a load", NULL, \
     "none", "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_hit}, \
    {"grapnel-" machine "/plain-random", "random words by plain loads, the limit of hit-random", NULL, \
     "none", "memory", NULL, SCOPE_RATE, SCOPE_HOST_CLOCK, &scope_hit}, \
    {"grapnel-" machine "/hit-random", "random words in the cache, gn_read_u32", NULL, "none", "memory", \
     NULL, SCOPE_RATE, SCOPE_HOST_CLOCK, &scope_hit}, \
    {"grapnel-" machine "/gather-plain", \
     "random rows of the store as they come, by plain loads, the limit that order lifts", NULL, in, \
     link, NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_gather}, \
    {"grapnel-" machine "/gather-rows", "the same rows by gn_gather_rows, sorting included", NULL, in, \
     link, NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_gather}, \
    {"grapnel-" machine "/queue", \
     "reads submitted and completed by command, behind them a copy in memory by the host", NULL, "none", \
     NULL, "seconds_a_command", SCOPE_RATE, SCOPE_HOST_CLOCK, &scope_queue}, \
    {"grapnel-" machine "/log-by-warps", \
     "messages between warps through a log in the machine's own memory", NULL, "none", "memory", NULL, \
     SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_log}, \
    {"grapnel-" machine "/log-by-host", \
     "messages from warps to threads of the host through a log in its memory", NULL, out, link, NULL, \
     SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &scope_log}
/* clang-format on */

static const struct scope_row rows[] = {ROWS("cpu", "h2h", "h2h", "memory"),
                                        ROWS("gpu", "h2d", "d2h", "pcie")};

static const struct scope_row_table table = {rows, sizeof *rows, sizeof rows / sizeof *rows};

const struct scope_row_table *const scope_grapnel_rows[] = {&table, NULL};
