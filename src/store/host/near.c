/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/machine.h>
#include <store/host/near.h>

#include <string.h>

enum { PAGE = 4096 };

static int allocate_device(struct gn_near *near, struct gn_error *error)
{
	struct simt_info info;

	near->memory = (char *)simt_alloc(near->machine, near->bytes, SIMT_DEVICE, error);
	if (near->memory)
		return 0;
	simt_describe(near->machine, &info);
	return gn_error_set(
	    error, -GN_ENOMEM,
	    "store: %zu bytes of device memory cannot be allocated (the device has %llu bytes, "
	    "and other data may be in them); give a smaller size, or leave memory=device out",
	    near->bytes, (unsigned long long)info.memory_bytes);
}

int gn_near_allocate(struct gn_near *near, struct simt_machine *machine, uint64_t bytes,
                     enum gn_store_memory kind, struct gn_error *error)
{
	void *memory = NULL;
	int rc;

	near->machine = machine;
	near->kind = kind;
	near->bytes = (size_t)((bytes ? bytes : 1) + PAGE - 1) / PAGE * PAGE;
	if (kind == GN_MEMORY_DEVICE)
		return allocate_device(near, error);
	rc = machine->ops->managed->alloc(machine, near->bytes, &memory, error);
	near->memory = rc ? NULL : (char *)memory;
	return rc;
}

void gn_near_free(struct gn_near *near)
{
	if (near->memory && near->kind == GN_MEMORY_DEVICE)
		simt_free(near->machine, near->memory);
	else if (near->memory)
		near->machine->ops->managed->free(near->machine, near->memory, near->bytes);
	near->memory = NULL;
}

static int move(const struct gn_near *near, void *to, const void *from, size_t bytes, struct gn_error *error)
{
	int rc;

	if (near->kind != GN_MEMORY_DEVICE) {
		memcpy(to, from, bytes);
		return 0;
	}
	rc = simt_move(near->machine, to, from, bytes, error);
	return gn_error_prefix(error, rc, "store: device memory");
}

int gn_near_read(const struct gn_near *near, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	return move(near, to, near->memory + offset, bytes, error);
}

int gn_near_write(const struct gn_near *near, uint64_t offset, const void *from, size_t bytes,
                  struct gn_error *error)
{
	return move(near, near->memory + offset, from, bytes, error);
}

int gn_near_settle(const struct gn_near *near, struct gn_error *error)
{
	if (near->kind == GN_MEMORY_DEVICE)
		return 0;
	return near->machine->ops->managed->settle(near->machine, near->memory, near->bytes,
	                                           near->kind == GN_MEMORY_READ_MOSTLY, error);
}
