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

#include "scope/output.h"
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
		return gn_error_set(
		    e, -GN_ENOENT,
		    "neither XDG_CONFIG_HOME nor HOME is an absolute path, so the folder of the settings is "
		    "unknown; set one of them, or give the file on the command line");
	return strlen(path) + 1 < room
	           ? 0
	           : gn_error_set(
	                 e, -GN_EINVAL,
	                 "%.80s...: the path of the settings is too long; give the file on the command line",
	                 path);
}

int tool_make_folders(const char *path, struct gn_error *e)
{
	char part[4096];

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
		if (mkdir(part, 0777) && errno != EEXIST)
			return gn_error_set(e, -GN_EIO, "%s: the folder cannot be made: %s", part,
			                    strerror(errno));
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
		return gn_error_set(
		    e, -GN_ENOENT,
		    "%s: the settings cannot be read (%.200s); make them with 'grapnel tune REPORT.json'",
		    path, wrong.text);
	if (json_integer_value(json_object_get(*settings, "tune_version")) == SCOPE_TUNE_VERSION)
		return 0;
	json_decref(*settings);
	*settings = NULL;
	return gn_error_set(e, -GN_EINVAL,
	                    "%s: the file does not hold settings of this version; make them again with "
	                    "'grapnel tune REPORT.json'",
	                    path);
}

double tool_tuned_number(const json_t *settings, const char *name, double otherwise)
{
	const json_t *v = json_object_get(json_object_get(settings, name), "value");

	return json_is_number(v) ? json_number_value(v) : otherwise;
}

/* ---- as defaults of commands ---- */

/*
 * This machine's settings; NULL: none, or none that a command of that machine can use, which is said unless
 * there is no file.
 */
static json_t *own_settings(const char *subcommand, const char *machine, char *path, size_t room)
{
	const char *host, *of;
	char own[65] = "";
	json_t *settings;
	struct gn_error e = {0, ""};

	if (tool_tuned_path(path, room, NULL, &e) || access(path, F_OK))
		return NULL;
	if (tool_tuned(path, &settings, &e)) {
		fprintf(stderr, "grapnel %s: the tuned settings are ignored: %s\n", subcommand, e.text);
		return NULL;
	}
	host = json_string_value(json_object_get(settings, "host_name"));
	of = json_string_value(json_object_get(settings, "machine"));
	if (!gethostname(own, sizeof own - 1) && host && !strcmp(host, own) && of && !strcmp(of, machine))
		return settings;
	if (!host || strcmp(host, own))
		fprintf(
		    stderr,
		    "grapnel %s: the tuned settings are ignored: %s: they belong to another machine, %.64s\n",
		    subcommand, path, host ? host : "without a name");
	json_decref(settings);
	return NULL;
}

/*
 * Is there such a setting, of a value that the command could have been given? Powers of two only, where it
 * must be one.
 */
static bool take(const json_t *settings, const char *name, uint32_t least, uint32_t most, bool power,
                 uint32_t *to)
{
	const double v = tool_tuned_number(settings, name, 0);
	const uint32_t whole = v >= least && v <= most ? (uint32_t)v : 0;

	if (!to || *to || !whole || (power && (whole & (whole - 1))))
		return false;
	*to = whole;
	return true;
}

void tool_tuned_defaults(const char *subcommand, const char *machine, uint32_t *page_bytes, uint32_t *queues,
                         uint32_t *depth)
{
	char path[4096], said[96] = "";
	size_t length = 0;
	json_t *settings = own_settings(subcommand, machine, path, sizeof path);

	if (settings && take(settings, "page_bytes", 512, 2u << 20, true, page_bytes))
		length += (size_t)snprintf(said, sizeof said, ", pages of %u bytes", *page_bytes);
	if (settings && take(settings, "queues", 1, 1024, false, queues))
		length += (size_t)snprintf(said + length, sizeof said - length, ", %u queues", *queues);
	if (settings && take(settings, "depth", 2, 32768, true, depth))
		snprintf(said + length, sizeof said - length, ", depth %u", *depth);
	if (said[0])
		fprintf(stderr, "grapnel %s: %s, as tuned: %s\n", subcommand, said + 2, path);
	json_decref(settings);
}
