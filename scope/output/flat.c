/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/output/flat.h"

#include <stdio.h>
#include <stdlib.h>

/* Deeper than any context goes; jansson reads 2048 levels. */
enum { DEEPEST = 16 };

static int add_tree(json_t *to, const char *path, const json_t *v, int depth);

static int add_member(json_t *to, const char *path, const char *name, const json_t *v, int depth)
{
	char longer[512];

	snprintf(longer, sizeof longer, "%s%s%s", path, *path ? "." : "", name);
	return add_tree(to, longer, v, depth + 1);
}

/* A text as it is, numbers and the like as JSON writes them. */
static json_t *leaf(const json_t *v)
{
	char *text =
	    json_is_string(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_t *made = json_string(text ? text : json_is_string(v) ? json_string_value(v) : "");

	free(text);
	return made;
}

static int add_tree(json_t *to, const char *path, const json_t *v, int depth)
{
	const char *name;
	char index[24];
	json_t *member, *text;
	int bad = 0;

	if (depth < DEEPEST && json_is_object(v) && json_object_size(v)) {
		json_object_foreach((json_t *)v, name, member) bad |=
		    add_member(to, path, name, member, depth);
		return bad;
	}
	for (size_t k = 0; depth < DEEPEST && k < json_array_size(v); k++) {
		snprintf(index, sizeof index, "%zu", k);
		bad |= add_member(to, path, index, json_array_get(v, k), depth);
	}
	if (depth < DEEPEST && json_array_size(v))
		return bad;
	text = leaf(v);
	json_object_set_new(to, path, text); /* a path that was cut within a character is left out */
	return !text;
}

json_t *scope_flat(const json_t *tree)
{
	json_t *to = json_object();

	if (to && add_tree(to, "", tree, 0)) {
		json_decref(to);
		return NULL;
	}
	return to;
}
