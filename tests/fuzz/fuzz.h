/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what the fuzz targets share. Each target is a libFuzzer program; an input that breaks a
 * requirement, a sanitizer or the time limit is written to a file for a test to keep.
 */
#ifndef GN_FUZZ_H
#define GN_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_REQUIRE(condition)                                                                       \
	do {                                                                                          \
		if (!(condition)) {                                                                   \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
			abort();                                                                      \
		}                                                                                     \
	} while (0)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file without a name that holds the input; the caller closes it. */
static inline int fuzz_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

/* The input as a string; the caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = (char *)malloc(size + 1);

	FUZZ_REQUIRE(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* A file that holds the input as `reseal` leaves it, which makes checksums right; the caller closes it. */
static inline int fuzz_resealed_file(const uint8_t *data, size_t size, void (*reseal)(uint8_t *, size_t))
{
	uint8_t *bytes = (uint8_t *)fuzz_text(data, size);
	int fd;

	reseal(bytes, size);
	fd = fuzz_file(bytes, size);
	free(bytes);
	return fd;
}

#endif
