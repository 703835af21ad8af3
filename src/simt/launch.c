/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/engine.h>

#include <stdarg.h>
#include <stdio.h>

void simt__launch_init(struct simt__launch *launch, const struct simt_kernel *kernel, struct simt_grid grid,
                       const void *arguments)
{
	launch->kernel = kernel;
	launch->arguments = arguments;
	launch->grid = grid;
	launch->next_block = 0;
	launch->share = grid.blocks;
	launch->failing = 0;
	launch->failed = 0;
	launch->error.code = 0;
	launch->error.text[0] = 0;
	SIMT__RELEASE(&launch->begun);
}

void simt__launch_fail(struct simt__launch *launch, int code, const char *format, ...)
{
	va_list arguments;

	if (__atomic_exchange_n(&launch->failing, 1, __ATOMIC_RELAXED))
		return;
	va_start(arguments, format);
	vsnprintf(launch->error.text, sizeof launch->error.text, format, arguments);
	va_end(arguments);
	launch->error.code = code;
	SIMT__RELEASE(&launch->ended);
	__atomic_store_n(&launch->failed, 1, __ATOMIC_RELEASE);
}
