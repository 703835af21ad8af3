/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/check.h>

void simt__check_wake(struct simt__worker *w, struct simt__fiber *f)
{
	(void)w;
	(void)f;
}

struct simt__fiber *simt__check_pick(struct simt__worker *w)
{
	(void)w;
	return NULL;
}

void simt__check_relax(struct simt__worker *w, struct simt__fiber *f)
{
	(void)w;
	(void)f;
}

uint64_t simt__check_clock_ns(const struct simt__worker *w)
{
	(void)w;
	return 0;
}

void simt__point(void)
{
}
