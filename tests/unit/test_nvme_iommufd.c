/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of iommufd, request by request, and what becomes of its refusals. The linker leads the
 * library's system calls to functions of the test. The requests' numbers and the places of their words are
 * written out here, as linux/iommufd.h and linux/vfio.h have them.
 */
#include <store/nvme/iommufd.h>

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

enum { IOMMU_FD = 1001, DEVICE_FD = 1002, TABLE = 77 };
enum { ALLOC = 0x3b81, RANGES = 0x3b84, MAP = 0x3b85, UNMAP = 0x3b86, BIND = 0x3b76, ATTACH = 0x3b77 };

static struct {
	unsigned long fails; /* this request, with this errno; 0: none */
	int with;
	unsigned long asked[16];
	unsigned count;
	uint32_t ranges; /* that the IOMMU has */
	unsigned char last[64];
	int has_no_iommu;
	char folder[64];
} fake;

static const struct gn_pci pci = {"0000:01:00.0", "vfio-pci", 0, 0, 0, 5};
static struct gn_vfio vfio;
static struct gn_error error;

#ifdef __cplusplus
extern "C" {
#endif
int __wrap_open(const char *path, int flags, ...);
int __wrap_access(const char *path, int mode);
DIR *__wrap_opendir(const char *path);
DIR *__real_opendir(const char *path);
int __wrap_ioctl(int fd, unsigned long request, ...);
#ifdef __cplusplus
}
#endif

int __wrap_open(const char *path, int flags, ...)
{
	(void)flags;
	if (!strcmp(path, "/dev/iommu"))
		return IOMMU_FD;
	assert_string_equal(path, "/dev/vfio/devices/vfio3");
	return DEVICE_FD;
}

int __wrap_access(const char *path, int mode)
{
	(void)mode;
	return !strcmp(path, "/dev/iommu") && fake.has_no_iommu ? -1 : 0;
}

DIR *__wrap_opendir(const char *path)
{
	assert_string_equal(path, "/sys/bus/pci/devices/0000:01:00.0/vfio-dev");
	return __real_opendir(fake.folder);
}

static uint32_t word(const void *request, size_t at)
{
	uint32_t value;

	memcpy(&value, (const char *)request + at, 4);
	return value;
}

static uint64_t wide(const void *request, size_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)request + at, 8);
	return value;
}

static void set_word(void *request, size_t at, uint32_t value)
{
	memcpy((char *)request + at, &value, 4);
}

/* The kernel fills in as many as there is room for, says how many there are, and fails if that is more. */
static int give_ranges(void *request)
{
	uint64_t *to = (uint64_t *)(uintptr_t)wide(request, 16);
	const uint32_t room = word(request, 8);

	assert_int_equal(word(request, 0), 32);
	assert_int_equal(word(request, 4), TABLE);
	for (uint32_t k = 0; k < room && k < fake.ranges; k++) {
		to[2 * k] = k * 0x100000000u;
		to[2 * k + 1] = k * 0x100000000u + 0xfedfffff;
	}
	set_word(request, 8, fake.ranges);
	errno = EMSGSIZE;
	return fake.ranges > room ? -1 : 0;
}

static int answer(int fd, unsigned long request, void *r)
{
	static const uint32_t bytes[] = {12, 40, 24};

	switch (request) {
	case BIND:
		assert_int_equal(fd, DEVICE_FD);
		assert_int_equal(word(r, 0), 16);
		assert_int_equal(word(r, 8), IOMMU_FD);
		return 0;
	case ATTACH:
		assert_int_equal(fd, DEVICE_FD);
		assert_int_equal(word(r, 0), 12);
		assert_int_equal(word(r, 8), TABLE);
		return 0;
	case RANGES: return give_ranges(r);
	case ALLOC: set_word(r, 8, TABLE); break;
	default: break;
	}
	assert_int_equal(fd, IOMMU_FD);
	assert_int_equal(word(r, 0), bytes[request == MAP ? 1 : request == UNMAP ? 2 : 0]);
	memcpy(fake.last, r, word(r, 0));
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *argument;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	fake.asked[fake.count++ % 16] = request;
	if (request == fake.fails) {
		errno = fake.with;
		return -1;
	}
	return answer(fd, request, argument);
}

/* ---- cases ---- */

static int setup(void **state)
{
	char file[100];
	FILE *made;

	(void)state;
	memset(&fake, 0, sizeof fake);
	memset(&vfio, 0, sizeof vfio);
	memset(&error, 0, sizeof error);
	fake.ranges = 2;
	strcpy(vfio.name, "nvme:0000:01:00.0");
	strcpy(fake.folder, "/tmp/grapnel-iommufd-XXXXXX");
	if (!mkdtemp(fake.folder))
		return -1;
	snprintf(file, sizeof file, "%s/vfio3", fake.folder);
	made = fopen(file, "w");
	return made ? fclose(made) : -1;
}

static int teardown(void **state)
{
	char file[100];

	(void)state;
	snprintf(file, sizeof file, "%s/vfio3", fake.folder);
	unlink(file);
	return rmdir(fake.folder);
}

static void opens_in_the_order_that_the_kernel_wants(void **state)
{
	static const unsigned long order[] = {BIND, ALLOC, ATTACH, RANGES};

	(void)state;
	assert_int_equal(gn_iommufd_permits(&pci), 1);
	assert_int_equal(gn_iommufd_open(&vfio, &pci, &error), 0);
	assert_int_equal(fake.count, 4);
	for (unsigned k = 0; k < 4; k++)
		assert_int_equal(fake.asked[k], order[k]);
	assert_int_equal(vfio.iommufd, IOMMU_FD);
	assert_int_equal(vfio.device, DEVICE_FD);
	assert_int_equal(vfio.ranges, 2);
	assert_int_equal(vfio.range[0].first, 4096); /* address 0 is none */
	assert_int_equal(vfio.range[0].last, 0xfedfffff);
	assert_int_equal(vfio.range[1].first, 0x100000000u);
}

static void memory_is_mapped_where_it_is_wanted(void **state)
{
	static char memory[4096];

	(void)state;
	assert_int_equal(gn_iommufd_open(&vfio, &pci, &error), 0);
	assert_int_equal(gn_iommufd_map(&vfio, memory, 4096, 0x12345000), 0);
	assert_int_equal(word(fake.last, 4), 7); /* at this address, to read and to write */
	assert_int_equal(word(fake.last, 8), TABLE);
	assert_int_equal(wide(fake.last, 16), (uintptr_t)memory);
	assert_int_equal(wide(fake.last, 24), 4096);
	assert_int_equal(wide(fake.last, 32), 0x12345000);
	gn_iommufd_unmap(&vfio, 8192, 0x54321000);
	assert_int_equal(word(fake.last, 4), TABLE);
	assert_int_equal(wide(fake.last, 8), 0x54321000);
	assert_int_equal(wide(fake.last, 16), 8192);
	fake.fails = MAP;
	fake.with = ENOMEM;
	assert_int_equal(gn_iommufd_map(&vfio, memory, 4096, 4096), ENOMEM);
}

static void more_ranges_than_there_is_room_for(void **state)
{
	(void)state;
	fake.ranges = 100;
	assert_int_equal(gn_iommufd_open(&vfio, &pci, &error), 0);
	assert_int_equal(vfio.ranges, GN_VFIO_RANGES);
	assert_int_equal(vfio.range[GN_VFIO_RANGES - 1].first, (GN_VFIO_RANGES - 1) * (uint64_t)0x100000000u);
}

static void refusals_say_what_to_do(void **state)
{
	static const struct {
		unsigned long request;
		int with, code;
		const char *text;
	} cases[] = {
	    {BIND, EBUSY, -GN_EBUSY, "another program"},
	    {BIND, EINVAL, -GN_EBUSY, "vfio3"},
	    {BIND, ENODEV, -GN_EIO, "does not take the device"},
	    {ALLOC, ENOMEM, -GN_EIO, "table"},
	    {ATTACH, EPERM, -GN_EACCES, "allow_unsafe_interrupts"},
	    {RANGES, EINVAL, -GN_EIO, "addresses"},
	};

	(void)state;
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
		fake.fails = cases[k].request;
		fake.with = cases[k].with;
		assert_int_equal(gn_iommufd_open(&vfio, &pci, &error), cases[k].code);
		assert_non_null(strstr(error.text, cases[k].text));
		assert_non_null(strstr(error.text, "nvme:0000:01:00.0"));
	}
}

static void without_it_the_container_is_taken(void **state)
{
	char file[100], path[100];

	(void)state;
	assert_string_equal(gn_vfio_way(&pci), "iommufd");
	fake.has_no_iommu = 1;
	assert_string_equal(gn_vfio_way(&pci), "VFIO's container");
	fake.has_no_iommu = 0;
	snprintf(file, sizeof file, "%s/vfio3", fake.folder);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(gn_iommufd_device(&pci, path, sizeof path), -GN_ENOTSUP);
	assert_string_equal(gn_vfio_way(&pci), "VFIO's container");
	fclose(fopen(file, "w"));
}

#define iommufd_case(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    iommufd_case(opens_in_the_order_that_the_kernel_wants),
	    iommufd_case(memory_is_mapped_where_it_is_wanted),
	    iommufd_case(more_ranges_than_there_is_room_for),
	    iommufd_case(refusals_say_what_to_do),
	    iommufd_case(without_it_the_container_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
