/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uri.h - the parts of a store's URI: scheme:path?name=value&name.
 */
#ifndef GN_STORE_URI_H
#define GN_STORE_URI_H

#include <stddef.h>

#include <grapnel/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_URI_MAX = 4096, GN_URI_MAX_OPTIONS = 16 };

/* One option; both point into the URI's own text. */
struct gn_uri_option {
	const char *name;
	const char *value; /* NULL: the option has no `=` */
};

/* A parsed URI. It holds a copy of the text. */
struct gn_uri {
	char text[GN_URI_MAX];
	const char *scheme;
	const char *path; /* percent escapes decoded */
	struct gn_uri_option option[GN_URI_MAX_OPTIONS];
	unsigned options;
};

/*
 * gn_uri_parse - split a URI into its parts.
 * Host. It does NOT check whether the scheme and the options exist. Returns 0 or -GN_EINVAL (no scheme, an
 * empty path, a percent sign without two hexadecimal digits, too long, too many options); the message quotes
 * the URI.
 */
int gn_uri_parse(struct gn_uri *uri, const char *text, struct gn_error *error);

/* gn_uri_scheme_length - the length of the scheme before its colon; 0 if the text has none. */
size_t gn_uri_scheme_length(const char *text);

/*
 * gn_uri_decode - replace each %XX in the text by its character. Returns 0, or -GN_EINVAL: XX is not
 * hexadecimal, or is 00.
 */
int gn_uri_decode(char *text);

#ifdef __cplusplus
}
#endif

#endif
