/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/scope.h"

#include <inttypes.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
/* A program has the lists that it was linked with. */
extern const struct scope_row_table *const scope_host_rows[] __attribute__((weak));
extern const struct scope_row_table *const scope_mpi_rows[] __attribute__((weak));
extern const struct scope_row_table *const scope_cuda_rows[] __attribute__((weak));
extern const struct scope_row_table *const scope_device_rows[] __attribute__((weak));
extern const struct scope_row_table *const scope_grapnel_rows[] __attribute__((weak));
#ifdef __cplusplus
}
#endif

enum { QUICK_BYTES = 128 << 20 };

struct entry {
	struct scope_cell cell;
	char *why; /* owned; NULL: to be measured */
};

struct scope_plan {
	const struct scope_machine *machine;
	const struct scope_row *row; /* being planned */
	regex_t filter;
	bool filtered;
	struct entry *entry;
	uint32_t count, room;
};

uint64_t scope_cell_arg(const struct scope_cell *c, const char *name, uint64_t otherwise)
{
	for (uint32_t k = 0; k < c->args; k++)
		if (!strcmp(c->arg[k].name, name))
			return c->arg[k].value;
	return otherwise;
}

void scope_cell_name(const struct scope_cell *c, char *text, uint32_t room)
{
	int length = snprintf(text, room, "%s", c->row->name);

	for (uint32_t k = 0; k < c->args && length > 0 && (uint32_t)length < room; k++)
		length += snprintf(text + length, room - (uint32_t)length, "/%s:%" PRIu64, c->arg[k].name,
		                   c->arg[k].value);
}

/* ---- adding ---- */

static void cell_make(struct scope_cell *c, const struct scope_row *row, const struct scope_arg *args)
{
	memset(c, 0, sizeof *c);
	c->row = row;
	for (; args && args->name && c->args < SCOPE_MOST_ARGS; args++)
		c->arg[c->args++] = *args;
}

static bool wanted(const struct scope_plan *p, const struct scope_cell *c)
{
	char name[SCOPE_NAME];

	if (!p->filtered)
		return true;
	scope_cell_name(c, name, sizeof name);
	return !regexec(&p->filter, name, 0, NULL, 0);
}

static int reserve(struct scope_plan *p)
{
	const uint32_t room = p->room ? 2 * p->room : 64;
	struct entry *entry;

	if (p->count < p->room)
		return 0;
	entry = (struct entry *)realloc(p->entry, room * sizeof *entry);
	if (!entry)
		return -GN_ENOMEM;
	p->entry = entry;
	p->room = room;
	return 0;
}

static int add(struct scope_plan *p, const struct scope_arg *args, const char *why)
{
	struct entry new_entry = {{0}, NULL};

	cell_make(&new_entry.cell, p->row, args);
	if (!wanted(p, &new_entry.cell))
		return 0;
	if (reserve(p))
		return -GN_ENOMEM;
	if (why && !(new_entry.why = strdup(why)))
		return -GN_ENOMEM;
	p->entry[p->count++] = new_entry;
	return 0;
}

int scope_plan_add(struct scope_plan *p, const struct scope_arg *args)
{
	return add(p, args, NULL);
}

int scope_plan_skip(struct scope_plan *p, const struct scope_arg *args, const char *why, ...)
{
	char text[SCOPE_WHY];
	va_list list;

	va_start(list, why);
	vsnprintf(text, sizeof text, why, list);
	va_end(list);
	return add(p, args, text);
}

static int add_size(struct scope_plan *p, uint64_t bytes, const struct scope_arg *rest)
{
	struct scope_arg args[SCOPE_MOST_ARGS + 1] = {{"bytes", bytes}};

	for (uint32_t k = 1; rest && rest->name && k < SCOPE_MOST_ARGS; k++)
		args[k] = *rest++;
	return scope_plan_add(p, args);
}

/*
 * A quick run's time goes into rounds: links are as fast with 128 MiB as with more. What is about the host's
 * memory needs buffers that its last cache does not hold.
 */
static uint64_t most_bytes(const struct scope_plan *p)
{
	const struct scope_machine *m = p->machine;
	const bool memory = p->row->limit && !strcmp(p->row->limit, "memory");
	const uint64_t enough =
	    memory && 2 * m->cache_bytes > QUICK_BYTES ? m->most_bytes : (uint64_t)QUICK_BYTES;

	return m->effort == SCOPE_QUICK && enough < m->most_bytes ? enough : m->most_bytes;
}

int scope_plan_sizes(struct scope_plan *p, uint64_t least, uint64_t most, const struct scope_arg *rest)
{
	const uint32_t step = p->machine->effort == SCOPE_QUICK ? 4 : 1;
	uint32_t low = 0, high = 63;
	int rc = 0;

	if (most > most_bytes(p))
		most = most_bytes(p);
	if (least > most) /* only the largest was asked for */
		least = most;
	while (1ull << low < least)
		low++;
	while (high > low && 1ull << high > most)
		high--;
	for (uint32_t k = low; !rc && k < high; k += step)
		rc = add_size(p, 1ull << k, rest);
	return rc ? rc : add_size(p, 1ull << high, rest);
}

/* ---- the plan ---- */

const struct scope_row *scope_row_at(const struct scope_row_table *t, uint32_t k)
{
	return (const struct scope_row *)(const void *)((const char *)t->rows + k * t->row_bytes);
}

static int plan_table(struct scope_plan *p, const struct scope_row_table *t)
{
	int rc = 0;

	for (uint32_t k = 0; k < t->count && !rc; k++) {
		p->row = scope_row_at(t, k);
		rc = p->row->functions->plan(p->row, p->machine, p);
	}
	return rc;
}

static int plan_all(struct scope_plan *p)
{
	const struct scope_row_table *const *const lists[] = {
	    scope_host_rows, scope_mpi_rows, scope_cuda_rows, scope_device_rows, scope_grapnel_rows};
	int rc = 0;

	for (unsigned k = 0; k < sizeof lists / sizeof *lists; k++)
		for (const struct scope_row_table *const *t = lists[k]; t && *t && !rc; t++)
			rc = plan_table(p, *t);
	return rc;
}

static int compile(struct scope_plan *p, const char *filter, struct gn_error *e)
{
	char words[200];
	const int rc = regcomp(&p->filter, filter, REG_EXTENDED | REG_NOSUB);

	p->filtered = !rc;
	if (!rc)
		return 0;
	regerror(rc, &p->filter, words, sizeof words);
	return gn_error_set(e, -GN_EINVAL, "%s: this is not a POSIX extended regular expression: %s", filter,
	                    words);
}

int scope_plan_make(const struct scope_machine *m, const char *filter, struct scope_plan **out,
                    struct gn_error *e)
{
	struct scope_plan *p = (struct scope_plan *)calloc(1, sizeof *p);
	int rc = p ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory for a plan");

	*out = NULL;
	if (rc)
		return rc;
	p->machine = m;
	if (filter)
		rc = compile(p, filter, e);
	if (!rc && (rc = plan_all(p)))
		gn_error_set(e, rc, "planning %s failed with %s", p->row->name, gn_error_name(rc));
	if (rc)
		scope_plan_free(p);
	else
		*out = p;
	return rc;
}

void scope_plan_free(struct scope_plan *p)
{
	if (!p)
		return;
	for (uint32_t k = 0; k < p->count; k++)
		free(p->entry[k].why);
	free(p->entry);
	if (p->filtered)
		regfree(&p->filter);
	free(p);
}

uint32_t scope_plan_count(const struct scope_plan *p)
{
	return p->count;
}

const struct scope_cell *scope_plan_cell(const struct scope_plan *p, uint32_t k, const char **why)
{
	*why = p->entry[k].why;
	return &p->entry[k].cell;
}
