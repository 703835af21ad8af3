/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - the settings of a tier, its levels, and whether they fit together. */
#include <store/tier/tier.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, LINE_LEAST = 512 };

/* ---- options ---- */

static int parse_line(const char *value, uint64_t *bytes)
{
	if (!value || gn_size_parse(value, bytes) || *bytes < LINE_LEAST || *bytes > GN_STORE_MAX_TRANSFER)
		return -GN_EINVAL;
	return *bytes & (*bytes - 1) ? -GN_EINVAL : 0;
}

static int take_setting(struct gn_tier_settings *s, const struct gn_uri_option *o, struct gn_error *error)
{
	int rc = -GN_EINVAL;

	if (!strcmp(o->name, "line"))
		rc = parse_line(o->value, &s->line);
	else if (!strcmp(o->name, "ro") && !o->value)
		rc = !(s->read_only = 1);
	if (!rc)
		return 0;
	return gn_error_set(error, rc,
	                    "tier: \"%.80s%s%.80s\" is neither the URI of a level nor an option; the options "
	                    "are line=SIZE (a power of two from 512 to 2M) and ro; those of a level follow "
	                    "its URI behind a ?",
	                    o->name, o->value ? "=" : "", o->value ? o->value : "");
}

static int make_settings(struct gn_tier_settings *s, const struct gn_list *list, struct gn_error *error)
{
	int rc = 0;

	memset(s, 0, sizeof *s);
	for (unsigned k = 0; k < list->options && !rc; k++)
		rc = take_setting(s, &list->option[k], error);
	if (!rc && list->members != 2)
		rc = gn_error_set(error, -GN_EINVAL,
		                  "tier: there is one level; write tier:FAST,SLOW, for example "
		                  "tier:peer:1?size=16G,file:/a");
	return rc;
}

/* ---- the levels ---- */

static int open_slow(struct gn_tier *t, const struct gn_tier_settings *s,
                     const struct gn_store_options *options, struct gn_error *error)
{
	struct gn_error why = {0, ""};
	struct gn_store_options o;
	int rc;

	memset(&o, 0, sizeof o);
	if (options)
		o = *options;
	o.read_only |= s->read_only;
	rc = gn_store_open(&t->slow, t->base.machine, t->uri[1], &o, &why);
	if (rc)
		return gn_error_set(error, rc, "tier: the slow store: %.400s", why.text);
	if (!t->slow->view.tier)
		return 0;
	return gn_error_set(error, -GN_ENOTSUP,
	                    "tier: the slow store (%s) is a tier itself, which it cannot be; give what is "
	                    "behind it",
	                    t->uri[1]);
}

/* The fast level gets any bytes, so it must be memory that has none that somebody wants. */
static int refuse_fast(const struct gn_tier *t, struct gn_error *error)
{
	return gn_error_set(error, -GN_ENOTSUP,
	                    "tier: the fast level (%s) must be memory that begins empty and is written: "
	                    "peer:GPUS?size=SIZE, host:SIZE or host:SIZE?memory=device",
	                    t->uri[0]);
}

static int open_fast(struct gn_tier *t, struct gn_error *error)
{
	struct gn_error why = {0, ""};
	const int rc = gn_store_open(&t->fast, t->base.machine, t->uri[0], NULL, &why);

	if (rc == -GN_ENOMEM) {
		t->about.use = GN_MEMBER_MISSING;
		t->about.why.code = rc;
		snprintf(t->about.text, sizeof t->about.text, "%.240s", why.text);
		return 0;
	}
	if (rc)
		return gn_error_set(error, rc, "tier: the fast level: %.400s", why.text);
	if (t->fast->view.kind != GN_STORE_MEMORY || !t->fast->forgets || t->fast->view.read_only)
		return refuse_fast(t, error);
	return 0;
}

/* ---- do they fit? ---- */

static int check_line(const struct gn_tier *t, uint64_t line, struct gn_error *error)
{
	const struct gn_store_view *slow = &t->slow->view;

	if (line % slow->block_bytes)
		return gn_error_set(error, -GN_EINVAL,
		                    "tier: lines of %llu bytes are no whole blocks of the slow store, of %u "
		                    "bytes; give line=%u or more",
		                    (unsigned long long)line, slow->block_bytes, slow->block_bytes);
	if (slow->kind == GN_STORE_QUEUES && line > slow->transfer_bytes)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "tier: lines of %llu bytes are larger than a transfer of the slow store, %u "
		    "bytes; give a smaller line=, or transfer=%llu in the slow store's URI (on a "
		    "stripe a larger unit=)",
		    (unsigned long long)line, slow->transfer_bytes, (unsigned long long)line);
	if (slow->capacity_bytes / line >> GN__TIER_LINE_BITS)
		return gn_error_set(
		    error, -GN_EFBIG,
		    "tier: the slow store has 2^40 lines of %llu bytes or more; give a larger "
		    "line=",
		    (unsigned long long)line);
	return 0;
}

static int set_sets(struct gn_tier *t, uint64_t line, struct gn_error *error)
{
	const uint64_t set_bytes = line * GN__TIER_WAYS;
	const uint64_t sets = t->fast ? t->fast->view.capacity_bytes / set_bytes : 0;

	if (t->fast && (!sets || sets >> 31))
		return gn_error_set(error, -GN_EINVAL,
		                    "tier: the fast level (%s) has %llu bytes, which are %s; give it %s, or "
		                    "another line=",
		                    t->uri[0], (unsigned long long)t->fast->view.capacity_bytes,
		                    sets ? "2^35 lines or more" : "fewer than 16 lines",
		                    sets ? "less" : "more");
	t->image.sets = (uint32_t)sets;
	t->image.line_log2 = (uint32_t)__builtin_ctzll(line);
	return 0;
}

/* A command to the slow store gets a fourth of the tier's time. */
static void show(struct gn_tier *t)
{
	struct gn_store_view *view = &t->base.view;
	const struct gn_store_view *slow = &t->slow->view;

	view->kind = GN_STORE_QUEUES;
	view->block_bytes = slow->block_bytes;
	view->capacity_bytes = slow->capacity_bytes;
	view->read_only = slow->read_only;
	view->timeout_ns = GN__TIER_TIMES * slow->timeout_ns;
	view->transfer_bytes = 1u << t->image.line_log2;
	view->unit_log2 = t->image.line_log2;
	view->members = GN_TIER_LEVELS + slow->members;
	view->tier = t->device;
}

/* ---- the device's part ---- */

static int make_device(struct gn_tier *t, struct gn_error *error)
{
	struct gn_tier_view *i = &t->image;
	struct simt_machine *machine = t->base.machine;
	const size_t ways = (size_t)i->sets * GN__TIER_WAYS;

	i->slow = t->slow->view;
	i->fast = t->fast ? t->fast->view.memory : NULL;
	i->word = ways ? (uint64_t *)simt_alloc(machine, ways * sizeof *i->word, SIMT_DEVICE, error) : NULL;
	i->set = ways ? (uint32_t *)simt_alloc(machine, i->sets * sizeof *i->set, SIMT_DEVICE, error) : NULL;
	i->counts = (struct gn_tier_counts *)simt_alloc(machine, sizeof *i->counts, SIMT_DEVICE, error);
	t->device = (struct gn_tier_view *)simt_alloc(machine, sizeof *t->device, SIMT_DEVICE, error);
	t->failure = (struct gn_tier_failure *)simt_alloc(machine, sizeof *t->failure, SIMT_PINNED, error);
	if ((ways && (!i->word || !i->set)) || !i->counts || !t->device || !t->failure)
		return gn_error_set(
		    error, -GN_ENOMEM,
		    "tier: out of memory for the words of %zu lines; give a smaller fast level, or "
		    "a larger line=",
		    ways);
	if (simt_move(machine, t->device, i, sizeof *i, error) ||
	    simt_prepare(machine, &gn_tier_sweep_kernel, error))
		return gn_error_prefix(error, -GN_EIO, "tier: the machine failed");
	return simt_stream_create(&t->stream, machine, error);
}

static int copy_uris(struct gn_tier *t, const struct gn_list *list, struct gn_error *error)
{
	for (unsigned k = 0; k < 2; k++) {
		t->uri[k] = strdup(list->member[k]);
		if (!t->uri[k])
			return gn_error_set(error, -GN_ENOMEM, "tier: out of memory");
	}
	return 0;
}

int gn_tier_open(struct gn_tier *t, const struct gn_list *list, const struct gn_store_options *options,
                 struct gn_error *error)
{
	struct gn_tier_settings s;
	int rc = make_settings(&s, list, error);

	if (!rc)
		rc = copy_uris(t, list, error);
	if (!rc)
		rc = open_slow(t, &s, options, error);
	if (!rc)
		rc = open_fast(t, error);
	if (rc)
		return rc;
	if (!s.line)
		s.line = LINE > t->slow->view.block_bytes ? (uint64_t)LINE : t->slow->view.block_bytes;
	rc = check_line(t, s.line, error);
	if (!rc)
		rc = set_sets(t, s.line, error);
	if (!rc)
		rc = make_device(t, error);
	if (!rc)
		show(t);
	return rc;
}
