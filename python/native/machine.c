/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - machines of flat.h, and the workspaces of their streams. */
#include "object.h"

#include <stdlib.h>
#include <string.h>

int gn__add_way(struct gn__machine *m)
{
	struct gn_error error;
	int rc;

	if (m->ways == GN__WAYS)
		return gn__failed(-GN_ENOBUFS, 0, -1,
		                  "this machine has served too many streams and captures; use some again");
	rc = gn_gather_create(&m->way[m->ways].gather, m->machine, m->rows, &error);
	if (rc)
		return gn__failed_as(&error);
	m->ways++;
	return 0;
}

int gn_flat_reserve(int64_t machine, unsigned streams)
{
	struct gn__object *o = gn__take(machine, GN__MACHINE);
	unsigned spare = 0;
	int rc = 0;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	for (unsigned k = 0; k < o->machine->ways; k++)
		spare += !o->machine->way[k].taken;
	for (; spare < streams && !rc && o->machine->is_cuda; spare++)
		rc = gn__add_way(o->machine);
	return gn__leave(o, rc);
}

int gn_flat_reserve_stack(int64_t machine, uint64_t frame_bytes)
{
	struct gn__object *o = gn__take(machine, GN__MACHINE);
	struct gn_error error;
	int rc;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	rc = simt_reserve_stack(o->machine->machine, frame_bytes, &error);
	return gn__leave(o, rc ? gn__failed_as(&error) : 0);
}

static int open_machine(struct gn__machine *m, const char *name, unsigned threads)
{
	struct simt_options options;
	struct simt_info info;
	struct gn_error error;

	memset(&options, 0, sizeof options);
	options.name = name;
	options.threads = threads;
	if (simt_open(&m->machine, &options, &error))
		return gn__failed_as(&error);
	simt_describe(m->machine, &info);
	m->is_cuda = info.is_cuda;
	m->device = m->is_cuda && strchr(name, ':') ? atoi(strchr(name, ':') + 1) : 0;
	if (gn_gather_create(&m->own, m->machine, m->rows, &error))
		return gn__failed_as(&error);
	return 0;
}

void gn__machine_end(struct gn__machine *m)
{
	for (unsigned k = 0; k < m->ways; k++) {
		gn_gather_destroy(m->way[k].gather);
		simt_stream_destroy(m->way[k].adopted);
		gn__term_end(m->way[k].term);
	}
	gn_gather_destroy(m->own);
	if (m->machine) {
		simt_free(m->machine, m->stage);
		simt_close(m->machine);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
}

int64_t gn_flat_machine(const char *name, unsigned threads, uint64_t rows, unsigned streams)
{
	struct gn__object *o = gn__new(GN__MACHINE, NULL, 0);
	struct gn__machine *m = (struct gn__machine *)calloc(1, sizeof *m);
	int rc = 0;

	if (!o || !m) {
		free(m);
		return gn__publish(o, gn__failed(-GN_ENOMEM, 0, -1, "out of host memory"));
	}
	o->machine = m;
	pthread_mutex_init(&m->lock, NULL);
	m->rows = rows;
	rc = open_machine(m, name, threads);
	while (!rc && m->is_cuda && m->ways < streams)
		rc = gn__add_way(m);
	if (rc)
		gn__machine_end(m);
	return gn__publish(o, rc);
}

int gn_flat_machine_describe(int64_t machine, char *name, uint64_t value[6])
{
	struct gn__object *o = gn__take(machine, GN__MACHINE);
	struct simt_info info;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	simt_describe(o->machine->machine, &info);
	memcpy(name, info.name, sizeof info.name);
	value[0] = (uint64_t)info.is_cuda;
	value[1] = info.processors;
	value[2] = info.memory_bytes;
	value[3] = info.resident_threads;
	value[4] = (uint64_t)o->machine->device;
	value[5] = o->machine->rows;
	return gn__leave(o, 0);
}

int gn__settle(struct gn__machine *m)
{
	struct gn_error error;

	if (simt_wait(m->machine, &error))
		return gn__failed_as(&error);
	return m->is_cuda ? gn__device_wait(m->device) : 0;
}
