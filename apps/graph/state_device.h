/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_device.h - how kernels read and change what a job knows of each vertex, wherever it is.
 *
 * A kernel comes in two instances (GN_SCAN_KERNEL of scan.h). With any = 0 state is near, and each of these
 * functions is one load, store or atomic. With any = 1 the place is looked at, at each access.
 *
 * get, set       a word that no other thread changes meanwhile
 * load, store    a word that others change: relaxed
 * cas, min, add  changed as one step; add returns nothing
 */
#ifndef GN_GRAPH_STATE_DEVICE_H
#define GN_GRAPH_STATE_DEVICE_H

#include "state.h"

SIMT_INLINE_FN int gn_state_is_near(const struct gn_state *s, const int any)
{
	return !any || s->near;
}

/*
 * Has a word of far state failed to be read or written? Where a loop ends only by a change of its own it must
 * ask, because a change that fails changes nothing.
 */
SIMT_INLINE_FN int gn_state_is_lost(const struct gn_state *s, const int any)
{
	return !gn_state_is_near(s, any) && simt_load_relaxed_sys_u32(&s->far.failure->state);
}

SIMT_INLINE_FN uint32_t gn_state_get_u32(const struct gn_state *s, const int any, uint64_t vertex)
{
	return gn_state_is_near(s, any) ? ((const uint32_t *)s->near)[vertex] : gn_read_u32(&s->far, vertex);
}

SIMT_INLINE_FN uint64_t gn_state_get_u64(const struct gn_state *s, const int any, uint64_t vertex)
{
	return gn_state_is_near(s, any) ? ((const uint64_t *)s->near)[vertex] : gn_read_u64(&s->far, vertex);
}

SIMT_INLINE_FN double gn_state_get_f64(const struct gn_state *s, const int any, uint64_t vertex)
{
	return gn_state_is_near(s, any) ? ((const double *)s->near)[vertex] : gn_read_f64(&s->far, vertex);
}

/* A write that fails is kept by the array, and the host looks for it behind the launch. */
SIMT_INLINE_FN void gn_state_set_u32(const struct gn_state *s, const int any, uint64_t vertex, uint32_t value)
{
	if (gn_state_is_near(s, any))
		((uint32_t *)s->near)[vertex] = value;
	else
		gn_write_u32(&s->far, vertex, value);
}

SIMT_INLINE_FN void gn_state_set_u64(const struct gn_state *s, const int any, uint64_t vertex, uint64_t value)
{
	if (gn_state_is_near(s, any))
		((uint64_t *)s->near)[vertex] = value;
	else
		gn_write_u64(&s->far, vertex, value);
}

SIMT_INLINE_FN void gn_state_set_f64(const struct gn_state *s, const int any, uint64_t vertex, double value)
{
	if (gn_state_is_near(s, any))
		((double *)s->near)[vertex] = value;
	else
		gn_write_f64(&s->far, vertex, value);
}

SIMT_INLINE_FN uint32_t gn_state_load_u32(const struct gn_state *s, const int any, uint64_t vertex)
{
	return gn_state_is_near(s, any) ? simt_load_relaxed_dev_u32((const uint32_t *)s->near + vertex)
	                                : gn_read_u32(&s->far, vertex);
}

SIMT_INLINE_FN void gn_state_store_u32(const struct gn_state *s, const int any, uint64_t vertex,
                                       uint32_t value)
{
	if (gn_state_is_near(s, any))
		simt_store_relaxed_dev_u32((uint32_t *)s->near + vertex, value);
	else
		gn_write_u32(&s->far, vertex, value);
}

/* Returns the word before; so does min. */
SIMT_INLINE_FN uint32_t gn_state_cas_u32(const struct gn_state *s, const int any, uint64_t vertex,
                                         uint32_t expected, uint32_t value)
{
	return gn_state_is_near(s, any)
	           ? simt_cas_relaxed_dev_u32((uint32_t *)s->near + vertex, expected, value)
	           : gn_cas_u32(&s->far, vertex, expected, value);
}

SIMT_INLINE_FN uint32_t gn_state_min_u32(const struct gn_state *s, const int any, uint64_t vertex,
                                         uint32_t value)
{
	return gn_state_is_near(s, any) ? simt_min_relaxed_dev_u32((uint32_t *)s->near + vertex, value)
	                                : gn_min_u32(&s->far, vertex, value);
}

SIMT_INLINE_FN void gn_state_add_u64(const struct gn_state *s, const int any, uint64_t vertex, uint64_t by)
{
	if (gn_state_is_near(s, any))
		simt_reduce_add_relaxed_dev_u64((uint64_t *)s->near + vertex, by);
	else
		gn_add_u64(&s->far, vertex, by);
}

SIMT_INLINE_FN void gn_state_add_f64(const struct gn_state *s, const int any, uint64_t vertex, double by)
{
	if (gn_state_is_near(s, any))
		simt_reduce_add_relaxed_dev_f64((double *)s->near + vertex, by);
	else
		gn_add_f64(&s->far, vertex, by);
}

#endif
