/* SPDX-License-Identifier: Apache-2.0 */
/* auto_sample.c - the sample of a launch: allocated, armed before the launch, fetched after it. */
#include <stdlib.h>
#include <string.h>

#include <array/auto.h>

enum { TOUCHES = 12288, STAGES = 16, LEAST_REGIONS = 16 };

void gn__auto_forget_sample(struct gn_auto *x)
{
	simt_free(x->machine, x->image.touch);
	simt_free(x->machine, x->sample);
	free(x->log.touch);
	free(x->before.touch);
}

/* The least value of keep: a few regions of the array stay in the sample. */
static uint64_t least_keep(const struct gn_auto *x)
{
	const uint64_t regions = (x->setup.bytes >> GN__SAMPLE_REGION_LOG2) + 1, all = 1ull << 32;

	return regions <= LEAST_REGIONS ? all : (uint64_t)((double)all * LEAST_REGIONS / (double)regions);
}

int gn__auto_make_sample(struct gn_auto *x, struct gn_error *error)
{
	struct gn__samples *s = &x->image;

	if (x->options.touches && x->options.touches < STAGES * 8)
		return gn_error_set(error, -GN_EINVAL,
		                    "auto: a sample of %u touches is too small; give %d or more",
		                    x->options.touches, STAGES * 8);
	s->room = x->options.touches ? x->options.touches : (uint32_t)TOUCHES;
	s->stage = s->room / STAGES + 1;
	s->least = least_keep(x);
	s->base = x->options.offset;
	s->touch = (uint64_t *)simt_alloc(x->machine, s->room * sizeof *s->touch, SIMT_DEVICE, error);
	x->sample = (struct gn__samples *)simt_alloc(x->machine, sizeof *x->sample, SIMT_DEVICE, error);
	x->log.touch = (uint64_t *)malloc(s->room * sizeof *x->log.touch);
	x->before.touch = (uint64_t *)malloc(s->room * sizeof *x->before.touch);
	return s->touch && x->sample && x->log.touch && x->before.touch
	           ? 0
	           : gn_error_set(error, -GN_ENOMEM, "auto: cannot allocate memory for the sample");
}

int gn__auto_sample(struct gn_auto *x, struct gn_error *error)
{
	struct gn__samples *s = &x->image;
	const uint64_t first = (1ull << 32) / 16; /* of all regions */
	int rc;

	s->keep = s->least < first ? first : s->least;
	rc = simt_move(x->machine, x->sample, s, sizeof *s, error);
	x->sampling = !rc;
	return gn_error_prefix(error, rc, "auto");
}

int gn__auto_collect(struct gn_auto *x, struct gn_error *error)
{
	struct gn_auto_log *log = &x->log;
	struct gn__samples s;
	int rc = simt_move(x->machine, &s, x->sample, sizeof s, error);

	if (rc)
		return rc;
	log->noted = s.next;
	log->count = s.next < s.room ? s.next : s.room;
	log->keep = s.keep;
	return simt_move(x->machine, log->touch, x->image.touch, log->count * sizeof *log->touch, error);
}
