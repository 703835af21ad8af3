/* SPDX-License-Identifier: Apache-2.0 */
/* stripe.c - stripe: stores: the bytes of several stores as one, a unit of each in turn. */
#include <store/set/set.h>
#include <store/set/stripe.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT ((uint64_t)64 << 10)
#define UNIT_LEAST ((uint64_t)4096)
#define UNIT_MOST ((uint64_t)1 << 30)

/* ---- options ---- */

/* Read a size with at least one byte. */
static int parse_size(const char *value, uint64_t *bytes)
{
	return !value || gn_size_parse(value, bytes) || !*bytes ? -GN_EINVAL : 0;
}

static int parse_unit(const char *value, uint64_t *bytes)
{
	if (parse_size(value, bytes) || *bytes & (*bytes - 1))
		return -GN_EINVAL;
	return *bytes < UNIT_LEAST || *bytes > UNIT_MOST ? -GN_EINVAL : 0;
}

static int take_option(struct gn_stripe_settings *s, const struct gn_uri_option *o, struct gn_error *error)
{
	int rc = -GN_EINVAL;

	if (!strcmp(o->name, "unit"))
		rc = parse_unit(o->value, &s->unit);
	else if (!strcmp(o->name, "size"))
		rc = parse_size(o->value, &s->size);
	else if (!strcmp(o->name, "ro") && !o->value)
		rc = !(s->read_only = 1);
	if (!rc)
		return 0;
	return gn_error_set(error, rc,
	                    "stripe: \"%.80s%s%.80s\" is neither the URI of a member, such as file:PATH, nor "
	                    "an option; the options are unit=SIZE (a power of two from 4K to 1G), size=SIZE "
	                    "(of each member) and ro",
	                    o->name, o->value ? "=" : "", o->value ? o->value : "");
}

int gn_stripe_settings_make(struct gn_stripe_settings *s, const struct gn_list *list, struct gn_error *error)
{
	int rc = 0;

	memset(s, 0, sizeof *s);
	s->unit = UNIT;
	for (unsigned k = 0; k < list->options && !rc; k++)
		rc = take_option(s, &list->option[k], error);
	return rc;
}

/* ---- shape ---- */

static int check_size(const struct gn_stripe_settings *s, const char *const *name, unsigned k,
                      uint64_t capacity, uint64_t first, struct gn_error *error)
{
	if (s->size && capacity < s->size)
		return gn_error_set(error, -GN_EINVAL,
		                    "stripe: member %u (%s) has %llu bytes, fewer than size=%llu; give a "
		                    "smaller size=, or make the member larger",
		                    k + 1, name[k], (unsigned long long)capacity,
		                    (unsigned long long)s->size);
	if (!s->size && capacity != first)
		return gn_error_set(error, -GN_EINVAL,
		                    "stripe: member %u (%s) has %llu bytes, member 1 (%s) has %llu; make all "
		                    "members equal (a file: truncate -s %llu), or give size=%llu to use so "
		                    "many bytes of each",
		                    k + 1, name[k], (unsigned long long)capacity, name[0],
		                    (unsigned long long)first,
		                    (unsigned long long)(capacity > first ? capacity : first),
		                    (unsigned long long)(capacity < first ? capacity : first));
	return 0;
}

int gn_stripe_shape(struct gn_store_view *view, const struct gn_stripe_settings *s, const char *const *name,
                    const uint64_t *capacity, unsigned members, struct gn_error *error)
{
	const uint64_t each = s->size ? s->size : capacity[0];
	int rc = 0;

	for (unsigned k = 0; k < members && !rc; k++)
		rc = check_size(s, name, k, capacity[k], capacity[0], error);
	if (rc)
		return rc;
	if (s->unit < view->block_bytes)
		return gn_error_set(error, -GN_EINVAL,
		                    "stripe: a unit of %llu bytes is smaller than a block of its members, %u "
		                    "bytes; give unit=%u or more",
		                    (unsigned long long)s->unit, view->block_bytes, view->block_bytes);
	if (each < s->unit)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "stripe: the members have %llu bytes each, less than a unit of %llu; make "
		    "them larger, or give a smaller unit=",
		    (unsigned long long)each, (unsigned long long)s->unit);
	if (each > UINT64_MAX / members)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "stripe: %u members of %llu bytes are more than 64 bits can count; give a "
		    "smaller size=",
		    members, (unsigned long long)each);
	view->unit_log2 = (uint32_t)__builtin_ctzll(s->unit);
	view->capacity_bytes = each / s->unit * s->unit * members;
	if (view->transfer_bytes > s->unit)
		view->transfer_bytes = (uint32_t)s->unit;
	return 0;
}

/* ---- the store ---- */

static int shape(struct gn_set *set, const struct gn_list *list, const struct gn_stripe_settings *s,
                 struct gn_error *error)
{
	uint64_t capacity[GN_SET_MOST];

	for (unsigned k = 0; k < set->members; k++)
		capacity[k] = set->member[k]->view.capacity_bytes;
	return gn_stripe_shape(&set->base.view, s, list->member, capacity, set->members, error);
}

static int stripe_join(struct gn_store **store, struct simt_machine *machine, struct gn_list *list,
                       const struct gn_store_options *options, struct gn_error *error)
{
	struct gn_set *set = (struct gn_set *)calloc(1, sizeof *set);
	struct gn_stripe_settings s;
	int rc;

	if (!set)
		return gn_error_set(error, -GN_ENOMEM, "stripe: out of memory");
	set->base.ops = &gn_store_stripe;
	set->base.machine = machine;
	set->base.flushes_again = 1; /* if its members' stores do */
	rc = gn_stripe_settings_make(&s, list, error);
	if (!rc)
		rc = gn_set_init(set, list, error);
	for (unsigned k = 0; k < list->members && !rc; k++)
		rc = gn_set_open_member(set, k, options, s.read_only, error);
	if (!rc)
		rc = gn_set_join(set, error);
	if (!rc)
		rc = shape(set, list, &s, error);
	if (rc) {
		gn_set_close(set);
		free(set);
		return rc;
	}
	snprintf(set->base.path, sizeof set->base.path, "stripe of %u, units of %llu: %.140s", set->members,
	         (unsigned long long)s.unit, set->member[0]->path);
	*store = &set->base;
	return 0;
}

static void stripe_close(struct gn_store *store)
{
	gn_set_close((struct gn_set *)store);
	free(store);
}

/* Bytes of the host that lie together on a member. */
struct piece {
	struct gn_store *member;
	uint64_t offset;
	size_t bytes;
};

static struct piece piece_of(const struct gn_store *store, uint64_t offset, size_t bytes)
{
	const struct gn_store_view *v = &store->view;
	const uint64_t unit = offset >> v->unit_log2, unit_bytes = 1ull << v->unit_log2;
	const uint64_t inside = offset & (unit_bytes - 1);
	struct piece p;

	p.member = ((const struct gn_set *)store)->member[unit % v->members];
	p.offset = unit / v->members * unit_bytes + inside;
	p.bytes = bytes < unit_bytes - inside ? bytes : (size_t)(unit_bytes - inside);
	return p;
}

/* @write  1: the bytes of the host go to the members; 0: they come from there */
static int stripe_move(struct gn_store *store, uint64_t offset, char *at, size_t bytes, int write,
                       struct gn_error *error)
{
	int rc = 0;

	while (bytes && !rc) {
		const struct piece p = piece_of(store, offset, bytes);

		rc = write ? gn_store_write_host(p.member, p.offset, at, p.bytes, error)
		           : gn_store_read_host(p.member, p.offset, at, p.bytes, error);
		offset += p.bytes;
		at += p.bytes;
		bytes -= p.bytes;
	}
	return rc;
}

static int stripe_read(struct gn_store *store, uint64_t offset, void *to, size_t bytes,
                       struct gn_error *error)
{
	return stripe_move(store, offset, (char *)to, bytes, 0, error);
}

static int stripe_write(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                        struct gn_error *error)
{
	return stripe_move(store, offset, (char *)(uintptr_t)from, bytes, 1, error);
}

const struct gn_store_ops gn_store_stripe = {"stripe",
                                             0,
                                             NULL,
                                             stripe_join,
                                             stripe_close,
                                             stripe_read,
                                             stripe_write,
                                             gn_set_flush,
                                             gn_set_statistics,
                                             gn_set_member};
