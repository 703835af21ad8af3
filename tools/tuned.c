/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings that grapnel tune found, a file a machine: $XDG_CONFIG_HOME/grapnel/tune-HOST.json, or
 * below ~/.config where that is not set (XDG Base Directory Specification).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

/* A name that can be part of a file's: what cannot is a line below. */
static void plain(char *name)
{
	for (; *name; name++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *name))
			*name = '_';
}

int tool_tuned_path(char *path, size_t room, const char *host, struct gn_error *e)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char name[65] = "this-machine";

	if (host)
		snprintf(name, sizeof name, "%.64s", host);
	else if (!gethostname(name, sizeof name))
		name[sizeof name - 1] = '\0';
	plain(name);
	if (config && config[0] == '/')
		snprintf(path, room, "%s/grapnel/tune-%s.json", config, name);
	else if (home && home[0] == '/')
		snprintf(path, room, "%s/.config/grapnel/tune-%s.json", home, name);
	else
		return gn_error_set(e, -GN_ENOENT, "neither XDG_CONFIG_HOME nor HOME names a folder for settings; name a file");
	return strlen(path) + 1 < room ? 0 : gn_error_set(e, -GN_EINVAL, "%.80s...: the folder's name is too long; name a file", path);
}

int tool_make_folders(const char *path, struct gn_error *e)
{
	char part[4096];

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
		if (mkdir(part, 0777) && errno != EEXIST)
			return gn_error_set(e, -GN_EIO, "%s: the folder cannot be made: %s", part, strerror(errno));
	}
	return 0;
}

int tool_tuned(const char *path, json_t **settings, struct gn_error *e)
{
	char own[4096];
	json_error_t wrong;
	int rc = path ? 0 : tool_tuned_path(own, sizeof own, NULL, e);

	*settings = NULL;
	if (rc)
		return rc;
	path = path ? path : own;
	*settings = json_load_file(path, JSON_REJECT_DUPLICATES, &wrong);
	if (!*settings)
		return gn_error_set(e, -GN_ENOENT, "%s: no settings to be read (%.200s); make them with grapnel tune REPORT.json", path, wrong.text);
	if (json_integer_value(json_object_get(*settings, "tune_version")) == 1)
		return 0;
	json_decref(*settings);
	*settings = NULL;
	return gn_error_set(e, -GN_EINVAL, "%s: not settings of this version; make them again with grapnel tune REPORT.json", path);
}

double tool_tuned_number(const json_t *settings, const char *name, double otherwise)
{
	const json_t *v = json_object_get(json_object_get(settings, "decisions"), name);

	v = json_object_get(v ? v : json_object_get(settings, name), "value");
	return json_is_number(v) ? json_number_value(v) : otherwise;
}
