/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - the subcommands of grapnel store. */
#ifndef GN_TOOL_STORE_H
#define GN_TOOL_STORE_H

#include "tool.h"

int tool_store_read(int argc, char **argv);
int tool_store_write(int argc, char **argv);
int tool_store_info(int argc, char **argv);
int tool_store_verify(int argc, char **argv);
int tool_store_rebuild(int argc, char **argv);

#endif
