/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/spread.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct simt_spread *all; /* every spread memory of the process */

static int refuse(const char *devices, struct gn_error *error)
{
	return gn_error_set(
	    error, -GN_EINVAL,
	    "\"%s\" does not name GPUs; give the numbers of up to %d different ones, such as 1 or "
	    "0+1",
	    devices, SIMT_SPREAD_MOST);
}

static int is_listed(const struct simt_spread *s, unsigned long device)
{
	for (unsigned k = 0; k < s->devices; k++)
		if (s->device[k] == device)
			return 1;
	return 0;
}

int simt__spread_init(struct simt_spread *spread, struct simt_machine *machine, const char *devices,
                      uint64_t piece_bytes, struct gn_error *error)
{
	const char *at = devices;
	char *end = NULL;

	memset(spread, 0, sizeof *spread);
	spread->machine = machine;
	spread->piece_bytes = piece_bytes ? piece_bytes : 32 << 20;
	for (;; at = end + 1) {
		const unsigned long device = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 1025;

		if (device > 1024 || spread->devices == SIMT_SPREAD_MOST || is_listed(spread, device))
			return refuse(devices, error);
		spread->device[spread->devices++] = (unsigned)device;
		if (*end != '+')
			return *end ? refuse(devices, error) : 0;
	}
}

int simt__spread_create(struct simt_spread *spread, uint64_t bytes, struct gn_error *error)
{
	const uint64_t page = 2 << 20;
	int rc;

	if (bytes > (uint64_t)1 << 62)
		return gn_error_set(error, -GN_ENOMEM, "%llu bytes cannot be addressed; ask for less",
		                    (unsigned long long)bytes);
	spread->bytes = bytes ? (bytes + page - 1) / page * page : page;
	rc = spread->machine->ops->spread->create(spread, error);
	if (rc) {
		spread->memory = NULL;
		return rc;
	}
	pthread_mutex_lock(&lock);
	spread->next = all;
	all = spread;
	pthread_mutex_unlock(&lock);
	return 0;
}

void simt__spread_destroy(struct simt_spread *spread)
{
	struct simt_spread **at = &all;

	pthread_mutex_lock(&lock);
	while (*at != spread)
		at = &(*at)->next;
	*at = spread->next;
	pthread_mutex_unlock(&lock);
	spread->machine->ops->spread->destroy(spread);
}

int simt__spread_share(const struct simt_spread *spread, struct simt_machine *other, struct gn_error *error)
{
	if (other->ops != spread->machine->ops)
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "the machine is of another kind than the memory; take one of the same kind");
	return other->ops->spread->share(spread, other, error);
}

int simt__spread_at(const void *address, struct simt_spread *found)
{
	const struct simt_spread *s;

	pthread_mutex_lock(&lock);
	for (s = all; s; s = s->next)
		if ((const char *)address >= s->memory && (const char *)address < s->memory + s->bytes)
			break;
	if (s)
		*found = *s;
	pthread_mutex_unlock(&lock);
	return s != NULL;
}

int simt__spread_is_open(const struct simt_spread *spread, struct simt_machine *machine)
{
	return machine->ops == spread->machine->ops && machine->ops->spread->is_open(spread, machine);
}

int simt__spread_reaches(const struct simt_spread *spread, struct simt_machine *machine, const void *memory)
{
	return machine->ops->spread->reaches(spread, machine, memory);
}

unsigned simt__device_of(const struct simt_machine *machine)
{
	return machine->ops->spread->device(machine);
}

/* ---- cpu ---- */

static int create_cpu(struct simt_spread *spread, struct gn_error *error)
{
	spread->memory = (char *)simt_alloc(spread->machine, spread->bytes, SIMT_DEVICE, error);
	return spread->memory ? 0
	                      : gn_error_set(error, -GN_ENOMEM,
	                                     "%llu bytes of host memory cannot be allocated; ask for less",
	                                     (unsigned long long)spread->bytes);
}

static void destroy_cpu(struct simt_spread *spread)
{
	simt_free(spread->machine, spread->memory);
}

/* All machines use the memory of one process, so nothing is to be done. */
static int share_cpu(const struct simt_spread *spread, struct simt_machine *other, struct gn_error *error)
{
	(void)spread;
	(void)other;
	(void)error;
	return 0;
}

static int is_open_cpu(const struct simt_spread *spread, struct simt_machine *machine)
{
	(void)spread;
	(void)machine;
	return 1;
}

static int reaches_cpu(const struct simt_spread *spread, struct simt_machine *machine, const void *memory)
{
	(void)spread;
	(void)machine;
	(void)memory;
	return 1;
}

static unsigned device_cpu(const struct simt_machine *machine)
{
	(void)machine;
	return 0;
}

const struct simt_spread_ops simt__cpu_spread = {create_cpu,  destroy_cpu, share_cpu,
                                                 is_open_cpu, reaches_cpu, device_cpu};
