/* SPDX-License-Identifier: Apache-2.0 */
/* table_tool.h - what subcommands do with tables: those that make a .gnt file. */
#ifndef GN_TOOL_TABLE_TOOL_H
#define GN_TOOL_TABLE_TOOL_H

#include "columns/import.h"
#include "tool.h"

/* Does the name end in .gnt? */
bool tool_is_table(const char *path);

/* tool_convert_table - grapnel convert of a table, and what is said of it. Returns an exit status. */
int tool_convert_table(const char *from, const char *to, const struct gn_import_options *options);

/* tool_gen_taxis - grapnel gen taxis. Returns an exit status. */
int tool_gen_taxis(const char *to, uint64_t rows, uint64_t seed);

#endif
