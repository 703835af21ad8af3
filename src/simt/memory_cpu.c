/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_cpu.c - memory of the cpu machine: mappings of its own, with huge pages if the memory is large
 * enough.
 *
 * Exported memory is a file in memory (memfd). Another process opens it by /proc/PID/fd/FD, if the system
 * allows it to inspect this process. The file is sealed against shrinking, so no process loses memory that it
 * has mapped. PID and FD may be reused, so the file holds a random number that its description repeats.
 */
#include <simt/engine.h>
#include <simt/machine_cpu.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE = 2 << 20 };

static const char file_name[] = "grapnel", link_begins[] = "/memfd:grapnel";

/* The description of an allocation, in the page before its memory. */
struct mapping {
	void *base;
	size_t bytes;
	int fd;          /* -1: private memory of the process */
	uint64_t number; /* of the file */
};

/* The description of a file in struct simt_exported. */
struct file {
	uint64_t number, bytes, offset; /* offset: of the memory in the file */
	int32_t pid, fd;
};
GN__STATIC_ASSERT(sizeof(struct file) <= sizeof(((struct simt_exported *)0)->handle),
                  "a file fits its description");

/* Make a file in memory. Returns its descriptor, or -1. */
static int file_make(size_t bytes)
{
	const int fd = memfd_create(file_name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && !ftruncate(fd, (off_t)bytes) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void *map(size_t bytes, int fd)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                  fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	return base == MAP_FAILED ? NULL : base;
}

void *simt__cpu_alloc(struct simt_machine *machine, size_t bytes, enum simt_memory where,
                      struct gn_error *error)
{
	size_t align = bytes >= HUGE ? HUGE : PAGE;
	size_t total = bytes + align + PAGE;
	struct mapping *mapping;
	char *base, *memory;
	int fd;

	(void)machine;
	if (total < bytes) {
		gn_error_set(error, -GN_ENOMEM, "no memory has %zu bytes; ask for less", bytes);
		return NULL;
	}
	/* if the system makes no file, the memory is private */
	fd = where == SIMT_EXPORTED ? file_make(total) : -1;
	base = (char *)map(total, fd);
	if (!base) {
		gn_error_set(error, -GN_ENOMEM, "the host has no memory for %zu bytes more; ask for less",
		             bytes);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	memory = (char *)(((uintptr_t)base + PAGE + align - 1) / align * align);
	if (align == HUGE)
		madvise(memory, bytes, MADV_HUGEPAGE);
	mapping = (struct mapping *)(void *)(memory - PAGE);
	mapping->base = base;
	mapping->bytes = total;
	mapping->fd = fd;
	return memory;
}

void simt__cpu_free(struct simt_machine *machine, void *memory)
{
	const struct mapping mapping = *(const struct mapping *)(const void *)((char *)memory - PAGE);

	(void)machine;
	munmap(mapping.base, mapping.bytes);
	if (mapping.fd >= 0)
		close(mapping.fd);
}

int simt__cpu_export(struct simt_machine *machine, void *memory, struct simt_exported *exported)
{
	struct mapping *mapping = (struct mapping *)(void *)((char *)memory - PAGE);
	struct file file;

	(void)machine;
	if (mapping->fd < 0)
		return -GN_ENOTSUP;
	if (!mapping->number &&
	    getrandom(&mapping->number, sizeof mapping->number, 0) != sizeof mapping->number)
		return -GN_ENOTSUP;
	file.number = mapping->number;
	file.bytes = mapping->bytes;
	file.offset = (uint64_t)((char *)memory - (char *)mapping->base);
	file.pid = (int32_t)getpid();
	file.fd = mapping->fd;
	memcpy(exported->handle, &file, sizeof file);
	return 0;
}

/*
 * Open the other process's file. Returns its descriptor, or -1. A file with another name is not opened,
 * because opening may have side effects.
 */
static int file_open(const struct file *file)
{
	char path[64], name[sizeof link_begins - 1];
	struct stat status;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)file->pid, (int)file->fd);
	if (readlink(path, name, sizeof name) != (ssize_t)sizeof name ||
	    memcmp(name, link_begins, sizeof name) != 0)
		return -1;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && (uint64_t)status.st_size == file->bytes)
		return fd;
	close(fd);
	return -1;
}

int simt__cpu_import(struct simt_machine *machine, const struct simt_exported *exported, void **memory)
{
	struct file file;
	char *base;
	int fd;

	(void)machine;
	memcpy(&file, exported->handle, sizeof file);
	fd = file.offset < PAGE || file.offset >= file.bytes ? -1 : file_open(&file);
	if (fd < 0)
		return -GN_ENOTSUP;
	base = (char *)map(file.bytes, fd);
	close(fd);
	if (!base)
		return -GN_ENOTSUP;
	if (((const struct mapping *)(const void *)(base + file.offset - PAGE))->number != file.number) {
		munmap(base, file.bytes);
		return -GN_ENOTSUP;
	}
	*memory = base + file.offset;
	return 0;
}

void simt__cpu_unimport(struct simt_machine *machine, const struct simt_exported *exported, void *memory)
{
	struct file file;

	(void)machine;
	memcpy(&file, exported->handle, sizeof file);
	munmap((char *)memory - file.offset, file.bytes);
}
