/* SPDX-License-Identifier: Apache-2.0 */
#include <store/host/region.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE = 2 << 20, TOUCHERS_MOST = 16 };
#define TOUCH_ALONE ((size_t)64 << 20)

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* The bytes of memory that the system can give now; all of its memory if it does not report that. */
static uint64_t available_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib ? (uint64_t)kib << 10 : UINT64_MAX;
}

static int has_transparent(void)
{
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
	char line[64] = "";
	int is;

	if (!file)
		return 0;
	is = fgets(line, sizeof line, file) && !strstr(line, "[never]");
	fclose(file);
	return is;
}

static int map_huge(struct gn_region *r, uint64_t bytes)
{
	r->base_bytes = r->bytes = round_up(bytes, HUGE);
	r->base =
	    mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (r->base == MAP_FAILED)
		return -GN_ENOMEM;
	r->memory = (char *)r->base;
	r->pages = "huge pages";
	return 0;
}

static int map_plain(struct gn_region *r, uint64_t bytes)
{
	uint64_t align = bytes >= HUGE ? HUGE : PAGE;

	r->bytes = round_up(bytes, PAGE);
	r->base_bytes = r->bytes + align;
	r->base = mmap(NULL, r->base_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->base == MAP_FAILED)
		return -GN_ENOMEM;
	r->memory = (char *)round_up((uintptr_t)r->base, align);
	r->pages = "4 KiB pages";
	if (align == HUGE && has_transparent() && !madvise(r->memory, r->bytes, MADV_HUGEPAGE))
		r->pages = "transparent huge pages";
	return 0;
}

struct toucher {
	pthread_t thread;
	char *memory;
	size_t bytes;
	int failed;
};

static void *touch(void *user)
{
	struct toucher *t = (struct toucher *)user;

	if (!t->bytes)
		return NULL;
#ifdef MADV_POPULATE_WRITE
	if (!madvise(t->memory, t->bytes, MADV_POPULATE_WRITE))
		return NULL;
	if (errno != EINVAL) { /* EINVAL: a kernel older than 5.14 */
		t->failed = 1;
		return NULL;
	}
#endif
	for (size_t at = 0; at < t->bytes; at += PAGE)
		((volatile char *)t->memory)[at] = 0;
	return NULL;
}

static unsigned count_touchers(size_t bytes)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t count = 1 + bytes / TOUCH_ALONE;

	if (count > TOUCHERS_MOST)
		count = TOUCHERS_MOST;
	return cores > 0 && count > (size_t)cores ? (unsigned)cores : (unsigned)count;
}

/* Populate the region with pages now, in parallel, because zeroing takes most of the time. */
static int populate(const struct gn_region *r)
{
	struct toucher touchers[TOUCHERS_MOST];
	unsigned count = count_touchers(r->bytes), running;
	size_t share = round_up(r->bytes / count, HUGE);
	int failed = 0;

	for (unsigned k = 0; k < count; k++) {
		size_t at = k * share < r->bytes ? k * share : r->bytes;
		size_t end = k + 1 < count && at + share < r->bytes ? at + share : r->bytes;

		memset(&touchers[k], 0, sizeof touchers[k]);
		touchers[k].memory = r->memory + at;
		touchers[k].bytes = end - at;
	}
	for (running = 1; running < count; running++)
		if (pthread_create(&touchers[running].thread, NULL, touch, &touchers[running]))
			break;
	touch(&touchers[0]);
	for (unsigned k = running; k < count; k++)
		touch(&touchers[k]);
	for (unsigned k = 1; k < running; k++)
		pthread_join(touchers[k].thread, NULL);
	for (unsigned k = 0; k < count; k++)
		failed |= touchers[k].failed;
	return failed ? -GN_ENOMEM : 0;
}

int gn_region_allocate(struct gn_region *region, uint64_t bytes, struct gn_error *error)
{
	uint64_t available = available_bytes();
	int rc = -GN_ENOMEM;

	memset(region, 0, sizeof *region);
	if (!bytes)
		bytes = PAGE;
	if (bytes >= HUGE && bytes <= INT64_MAX)
		rc = map_huge(region, bytes);
	if (rc && bytes <= available)
		rc = map_plain(region, bytes);
	if (!rc && populate(region)) {
		gn_region_free(region);
		rc = -GN_ENOMEM;
	}
	if (rc)
		gn_error_set(error, rc,
		             "store: %llu bytes of host memory cannot be allocated (%llu bytes are "
		             "available); give a smaller size, or keep the data in a file and open the file",
		             (unsigned long long)bytes, (unsigned long long)available);
	return rc;
}

int gn_region_map(struct gn_region *region, int fd, uint64_t bytes, int write, struct gn_error *error)
{
	int protection = write ? PROT_READ | PROT_WRITE : PROT_READ;

	memset(region, 0, sizeof *region);
	region->base_bytes = region->bytes = (size_t)round_up(bytes ? bytes : 1, PAGE);
	region->base = mmap(NULL, region->bytes, protection, bytes ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
	                    bytes ? fd : -1, 0);
	if (region->base == MAP_FAILED) {
		region->base = NULL;
		return gn_error_set(error, -GN_ENOMEM, "%llu bytes of the file cannot be mapped: %s",
		                    (unsigned long long)bytes, strerror(errno));
	}
	region->memory = (char *)region->base;
	region->pages = "4 KiB pages";
	return 0;
}

void gn_region_free(struct gn_region *region)
{
	if (region->base)
		munmap(region->base, region->base_bytes);
	memset(region, 0, sizeof *region);
}
