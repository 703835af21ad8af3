/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/system.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		if (entry->d_name[0] != '.' &&
		    scope_system_line(text, sizeof text, "%s/%s", path, entry->d_name))
			json_object_set_new(all, entry->d_name, json_string(text));
	}
	if (folder)
		closedir(folder);
	return all;
}

double scope_system_busy(void)
{
	enum { IDLE = 3, IOWAIT = 4, STEAL = 7 };
	unsigned long long ticks[STEAL + 1], sum = 0;
	char line[256];

	if (!scope_system_line(line, sizeof line, "/proc/stat") ||
	    sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1], &ticks[2],
	           &ticks[IDLE], &ticks[IOWAIT], &ticks[5], &ticks[6], &ticks[STEAL]) != STEAL + 1)
		return -1;
	for (unsigned k = 0; k <= STEAL; k++)
		sum += k == IDLE || k == IOWAIT ? 0 : ticks[k];
	return (double)sum / (double)sysconf(_SC_CLK_TCK);
}
