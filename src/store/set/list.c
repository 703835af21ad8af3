/* SPDX-License-Identifier: Apache-2.0 */
#include <store/set/list.h>

#include <string.h>

static int refuse(const struct gn_list *list, const char *what, struct gn_error *error)
{
	return gn_error_set(error, -GN_EINVAL, "%s: %s; write %s:URI,URI, for example %s:file:/a,file:/b",
	                    list->scheme, what, list->scheme, list->scheme);
}

static int take_option(struct gn_list *list, char *text, struct gn_error *error)
{
	struct gn_uri_option *option = &list->option[list->options];
	char *equals = strchr(text, '=');

	if (list->options == GN_URI_MAX_OPTIONS)
		return gn_error_set(error, -GN_EINVAL, "%s: the URI has more than %d options; give fewer",
		                    list->scheme, GN_URI_MAX_OPTIONS);
	if (equals)
		*equals++ = '\0';
	option->name = text;
	option->value = equals;
	list->options++;
	return 0;
}

static int take_part(struct gn_list *list, char *text, struct gn_error *error)
{
	if (!*text)
		return refuse(list, "a part of the URI is empty", error);
	if (!gn_uri_scheme_length(text))
		return take_option(list, text, error);
	if (list->members == GN_SET_MOST)
		return gn_error_set(error, -GN_EINVAL, "%s: there are more than %d members; give fewer",
		                    list->scheme, GN_SET_MOST);
	list->member[list->members++] = text;
	return 0;
}

int gn_list_parse(struct gn_list *list, const char *text, int takes_rest, struct gn_error *error)
{
	const size_t length = strlen(text), scheme = gn_uri_scheme_length(text);
	char *part, *end;
	int rc = 0;

	memset(list, 0, sizeof *list);
	if (length >= sizeof list->text)
		return gn_error_set(error, -GN_EINVAL,
		                    "store \"%.60s...\": the URI is longer than %d characters; give shorter "
		                    "paths or fewer members",
		                    text, GN_URI_MAX - 1);
	memcpy(list->text, text, length + 1);
	list->text[scheme] = '\0';
	list->scheme = list->text;
	for (part = list->text + scheme + 1; part && !rc; part = end) {
		end = takes_rest && list->members ? NULL : strchr(part, ',');
		if (end)
			*end++ = '\0';
		rc = take_part(list, part, error);
	}
	return rc || list->members ? rc : refuse(list, "there is no member", error);
}
