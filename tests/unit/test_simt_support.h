/* SPDX-License-Identifier: Apache-2.0 */
/* test_simt_support.h - machines of a processor for the tests of simt. */
#ifndef GN_TESTS_SIMT_SUPPORT_H
#define GN_TESTS_SIMT_SUPPORT_H

#include <stdio.h>
#include <string.h>

#include <grapnel/simt.h>

#include "unit.h"

static inline struct simt_machine *open_scheduled(unsigned threads, unsigned width,
                                                  enum simt_schedule schedule, uint64_t seed)
{
	struct simt_options config = {"cpu", threads, width, schedule, seed};
	struct simt_machine *machine;
	struct gn_error error;

	if (simt_open(&machine, &config, &error))
		fail_msg("%s", error.text);
	return machine;
}

static inline struct simt_machine *open_cpu(unsigned threads, unsigned width)
{
	return open_scheduled(threads, width, SIMT_FAIR, 0);
}

#endif
