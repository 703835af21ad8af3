/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/system.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool line_of(char *text, size_t room, const char *path)
{
	FILE *f = fopen(path, "re");
	bool read;

	text[0] = '\0';
	if (!f)
		return false;
	read = fgets(text, (int)room, f) != NULL;
	fclose(f);
	text[read ? strcspn(text, "\n") : 0] = '\0';
	return read;
}

bool scope_system_line(char *text, size_t room, const char *path, ...)
{
	char name[512];
	va_list list;

	va_start(list, path);
	vsnprintf(name, sizeof name, path, list);
	va_end(list);
	return line_of(text, room, name);
}

uint64_t scope_system_number(const char *path, ...)
{
	char name[512], text[64];
	unsigned long long value;
	va_list list;
	char *unit;

	va_start(list, path);
	vsnprintf(name, sizeof name, path, list);
	va_end(list);
	line_of(text, sizeof text, name);
	value = strtoull(text, &unit, 0);
	return value << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit == 'G' ? 30 : 0);
}

uint64_t scope_system_meminfo(const char *path, const char *name)
{
	FILE *f = fopen(path, "re");
	unsigned long long value = 0;
	char line[256];

	while (f && fgets(line, sizeof line, f)) {
		const char *at = strstr(line, name); /* a node's begin with "Node 0 " */

		if (at && at[strlen(name)] == ':' && (at == line || at[-1] == ' ')) {
			value = strtoull(at + strlen(name) + 1, NULL, 10);
			value <<= strstr(at, "kB") ? 10 : 0;
			break;
		}
	}
	if (f)
		fclose(f);
	return value;
}

void scope_system_selected(char *text, size_t room, const char *path)
{
	char line[256];
	const char *begin;

	line_of(line, sizeof line, path);
	begin = strchr(line, '[');
	snprintf(text, room, "%.*s", begin ? (int)strcspn(begin + 1, "]") : 0, begin ? begin + 1 : "");
}

json_t *scope_system_folder(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	json_t *all = folder ? json_object() : NULL;
	char text[256];

	while (all && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.' && scope_system_line(text, sizeof text, "%s/%s", path, entry->d_name))
			json_object_set_new(all, entry->d_name, json_string(text));
	}
	if (folder)
		closedir(folder);
	return all;
}
