/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own primitives, each on the cpu machine and on the cuda machine. */
#include "fixture.h"

/* The rows of one machine. What is far comes in and goes out over a link. */
/* clang-format off */
#define ROW(machine, way, summary, direction, link, second, unit, functions) \
    {"grapnel-" machine "/" way, summary, NULL, direction, link, second, unit, SCOPE_HOST_CLOCK, functions}

/* Of words that are near. */
#define HIT(machine, way, summary, unit) ROW(machine, way, summary, "none", "memory", NULL, unit, &scope_hit)

#define ROWS(machine, in, out, link) \
    ROW(machine, "page-in", "random pages that are not in the cache, brought in by so many warps at once", \
        in, link, NULL, SCOPE_BANDWIDTH, &scope_page_in), \
    ROW(machine, "miss", "one warp after one page that is not in the cache", \
        in, link, NULL, SCOPE_LATENCY, &scope_miss), \
    HIT(machine, "plain", \
        "words one after the other by plain loads, the limit of hit-scalar and hit-cursor", \
        SCOPE_BANDWIDTH), \
    HIT(machine, "hit-scalar", "words in the cache one after the other, gn_read_u32", SCOPE_BANDWIDTH), \
    HIT(machine, "hit-cursor", "words in the cache one after the other, through a cursor", SCOPE_BANDWIDTH), \
    HIT(machine, "plain-wide", \
        "words one after the other, 16 bytes a load, the limit of hit-page and hit-range", SCOPE_BANDWIDTH), \
    HIT(machine, "hit-page", "words in the cache by page reference, 16 bytes a load", SCOPE_BANDWIDTH), \
    HIT(machine, "hit-range", "words in the cache by a range loop, 16 bytes a load", SCOPE_BANDWIDTH), \
    HIT(machine, "plain-random", "random words by plain loads, the limit of hit-random", SCOPE_RATE), \
    HIT(machine, "hit-random", "random words in the cache, gn_read_u32", SCOPE_RATE), \
    ROW(machine, "gather-plain", \
        "random rows of the store as they come, by plain loads, the limit that order lifts", \
        in, link, NULL, SCOPE_BANDWIDTH, &scope_gather), \
    ROW(machine, "gather-rows", "the same rows by gn_gather_rows, sorting included", \
        in, link, NULL, SCOPE_BANDWIDTH, &scope_gather), \
    ROW(machine, "queue", \
        "reads submitted and completed by command, behind them a copy in memory by the host", \
        "none", NULL, "seconds_a_command", SCOPE_RATE, &scope_queue), \
    ROW(machine, "log-by-warps", "messages between warps through a log in the machine's own memory", \
        "none", "memory", NULL, SCOPE_BANDWIDTH, &scope_log), \
    ROW(machine, "log-by-host", "messages from warps to threads of the host through a log in its memory", \
        out, link, NULL, SCOPE_BANDWIDTH, &scope_log)
/* clang-format on */

static const struct scope_row rows[] = {ROWS("cpu", "h2h", "h2h", "memory"),
                                        ROWS("gpu", "h2d", "d2h", "pcie")};

static const struct scope_row_table table = {rows, sizeof *rows, sizeof rows / sizeof *rows};

const struct scope_row_table *const scope_grapnel_rows[] = {&table, NULL};
