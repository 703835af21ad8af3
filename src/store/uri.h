/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uri.h - the parts of a store's URI: scheme:path?name=value&name.
 */
#ifndef GN_STORE_URI_H
#define GN_STORE_URI_H

#include <grapnel/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_URI_MAX = 4096, GN_URI_MAX_OPTIONS = 16 };

/* One option; both point into the URI's own text. */
struct gn_uri_option {
	const char *name;
	const char *value; /* NULL where there is no `=` */
};

/* A URI taken apart; holds a copy, so the text it came from may go. */
struct gn_uri {
	char text[GN_URI_MAX];
	const char *scheme;
	const char *path; /* percent escapes decoded */
	struct gn_uri_option option[GN_URI_MAX_OPTIONS];
	unsigned options;
};

/*
 * gn_uri_parse - take a URI apart.
 * Host. Does NOT know which schemes and options there are. Returns 0, -GN_EINVAL (no scheme, an empty path, a
 * percent sign without two hexadecimal digits, too long, too many options); the message quotes the URI.
 */
int gn_uri_parse(struct gn_uri *uri, const char *text, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
