/* SPDX-License-Identifier: Apache-2.0 */
#include <store/uri.h>

#include <ctype.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int gn_uri_decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		int high, low;

		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		high = hex_digit(from[1]);
		low = high < 0 ? -1 : hex_digit(from[2]);
		if (low < 0 || high + low == 0)
			return -GN_EINVAL;
		*to++ = (char)(high << 4 | low);
		from += 2;
	}
	*to = '\0';
	return 0;
}

/* Split one option from the text. Returns the text behind it, NULL after the last option. */
static char *take_option(char *text, struct gn_uri_option *option)
{
	char *end = strchr(text, '&');
	char *equals;

	if (end)
		*end++ = '\0';
	equals = strchr(text, '=');
	if (equals)
		*equals++ = '\0';
	option->name = text;
	option->value = equals;
	return end;
}

static int take_options(struct gn_uri *uri, char *text)
{
	while (text && *text) {
		if (uri->options == GN_URI_MAX_OPTIONS)
			return -GN_EINVAL;
		text = take_option(text, &uri->option[uri->options++]);
	}
	return 0;
}

/* A letter, then letters, digits and a few signs (RFC 3986, section 3.1). */
size_t gn_uri_scheme_length(const char *text)
{
	size_t length = 0;

	if (!isalpha((unsigned char)*text))
		return 0;
	while (isalnum((unsigned char)text[length]) || (text[length] && strchr("+-.", text[length])))
		length++;
	return text[length] == ':' ? length : 0;
}

int gn_uri_parse(struct gn_uri *uri, const char *text, struct gn_error *error)
{
	size_t length = strlen(text), scheme = gn_uri_scheme_length(text);
	char *path, *query;

	memset(uri, 0, sizeof *uri);
	if (length >= sizeof uri->text)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "store \"%.60s...\": the URI is longer than %d characters; give a shorter path", text,
		    GN_URI_MAX - 1);
	if (!scheme)
		return gn_error_set(error, -GN_EINVAL,
		                    "store \"%s\": this is not a URI; give file:PATH, host:PATH or host:SIZE",
		                    text);
	memcpy(uri->text, text, length + 1);
	uri->text[scheme] = '\0';
	uri->scheme = uri->text;
	path = uri->text + scheme + 1;
	query = strchr(path, '?');
	if (query)
		*query++ = '\0';
	uri->path = path;
	if (gn_uri_decode(path))
		return gn_error_set(error, -GN_EINVAL,
		                    "store \"%s\": %% in the path is not followed by two hexadecimal digits; "
		                    "write %%25 for %% and %%3F for ?",
		                    text);
	if (!*path)
		return gn_error_set(error, -GN_EINVAL,
		                    "store \"%s\": the path after %s: is empty; give a path or a size", text,
		                    uri->scheme);
	if (take_options(uri, query))
		return gn_error_set(error, -GN_EINVAL,
		                    "store \"%s\": the URI has more than %d options; give fewer", text,
		                    GN_URI_MAX_OPTIONS);
	return 0;
}
