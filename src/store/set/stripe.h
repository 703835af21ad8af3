/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stripe.h - the settings and the shape of a stripe.
 */
#ifndef GN_STORE_SET_STRIPE_H
#define GN_STORE_SET_STRIPE_H

#include <grapnel/store.h>
#include <store/set/list.h>

struct gn_stripe_settings {
	uint64_t unit; /* bytes that lie together on a member, a power of two */
	uint64_t size; /* bytes that are used of each member; 0: all */
	int read_only;
};

/* gn_stripe_settings_make - the settings that a list says. Returns 0 or -GN_EINVAL. */
int gn_stripe_settings_make(struct gn_stripe_settings *s, const struct gn_list *list, struct gn_error *error);

/*
 * gn_stripe_shape - check that members fit together, and fill what the view says of a stripe.
 * @view      block_bytes and transfer_bytes are those of the members together
 * @name, @capacity  [members]
 * Returns 0 or -GN_EINVAL (unequal members, a unit smaller than a block or larger than a member).
 */
int gn_stripe_shape(struct gn_store_view *view, const struct gn_stripe_settings *s, const char *const *name,
                    const uint64_t *capacity, unsigned members, struct gn_error *error);

#endif
