/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h - the URI of a store over other stores: scheme:name=value,URI,URI,...
 * Each part is the URI of a member, with its own options, or an option of the whole. Commas separate them; in
 * a path `%2C` is a comma.
 */
#ifndef GN_STORE_SET_LIST_H
#define GN_STORE_SET_LIST_H

#include <store/uri.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_SET_MOST = 32 }; /* GN_STORE_MOST_MEMBERS */

/* A parsed list. It holds a copy of the text. */
struct gn_list {
	char text[GN_URI_MAX];
	const char *scheme;
	struct gn_uri_option option[GN_URI_MAX_OPTIONS];
	unsigned options;
	const char *member[GN_SET_MOST]; /* URIs */
	unsigned members;
};

/*
 * gn_list_parse - split such a URI into its parts.
 * @takes_rest  1: what follows the first member is one member, which may be a list itself
 * It does NOT check whether the options exist and whether the members can be opened. Returns 0 or -GN_EINVAL
 * (too long, an empty part, no member, too many members or options).
 */
int gn_list_parse(struct gn_list *list, const char *text, int takes_rest, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
