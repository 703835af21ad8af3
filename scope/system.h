/* SPDX-License-Identifier: Apache-2.0 */
/* system.h - reading the small files in which Linux says what there is. Nothing is written. */
#ifndef GN_SCOPE_SYSTEM_H
#define GN_SCOPE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/*
 * scope_system_line - the first line of a file, without its end. False and "" where there is none. path is a
 * format.
 */
bool scope_system_line(char *text, size_t room, const char *path, ...) __attribute__((format(printf, 3, 4)));

/*
 * scope_system_number - the number that a file begins with, and a unit of K, M or G behind it; 0 where there
 * is none.
 */
uint64_t scope_system_number(const char *path, ...) __attribute__((format(printf, 1, 2)));

/*
 * scope_system_meminfo - "NAME:  123 kB" of a file such as /proc/meminfo, in bytes (a count where there is no
 *                                kB); 0.
 */
uint64_t scope_system_meminfo(const char *path, const char *name);

/* scope_system_selected - the word in brackets, as in "always [madvise] never"; "" where there is none. */
void scope_system_selected(char *text, size_t room, const char *path);

/*
 * scope_system_folder - an object of all files of a folder and their first lines; NULL: there is no such
 * folder.
 */
json_t *scope_system_folder(const char *path);

/*
 * scope_system_busy - seconds that processors of this machine have worked since it was started, for whom
 * ever, also for other guests instead of this one (/proc/stat); a negative number: not known.
 */
double scope_system_busy(void);

#endif
