/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nvmeq_support.h - a queue pair, and a controller that does what each test tells it to
 * (src/queue/port.h).
 */
#ifndef GN_TESTS_NVMEQ_SUPPORT_H
#define GN_TESTS_NVMEQ_SUPPORT_H

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <grapnel/nvmeq.h>
#include <queue/port.h>

struct fixture {
	struct simt_machine *machine;
	struct gn_nvmeq q;
	struct gn_nvme_port port;
};

static const struct gn_nvmeq_options usual = {8, 16384, 512, 1, 0};

static inline void start(struct fixture *f, const struct gn_nvmeq_options *options)
{
	struct simt_options cpu;
	struct gn_error error;

	memset(&cpu, 0, sizeof cpu);
	cpu.name = "cpu";
	cpu.threads = 1;
	assert_int_equal(simt_open(&f->machine, &cpu, &error), 0);
	assert_int_equal(gn_nvmeq_create(&f->q, f->machine, options, &error), 0);
	gn_nvme_port_init(&f->port, &f->q);
}

static inline void start_depth(struct fixture *f, uint32_t depth, uint32_t first)
{
	struct gn_nvmeq_options options = usual;

	options.depth = depth;
	options.start = first;
	start(f, &options);
}

static inline void stop(struct fixture *f)
{
	gn_nvmeq_destroy(&f->q, f->machine);
	simt_close(f->machine);
}

static inline uint64_t soon(void)
{
	return simt_clock_ns() + 1000000;
}

static inline uint64_t later(void)
{
	return simt_clock_ns() + 1000000000000; /* longer than the test may take: a slow machine fails none */
}

static inline uint32_t begin(struct fixture *f)
{
	uint32_t cid = 0xdead;

	assert_int_equal(gn_nvmeq_begin(&f->q, later(), &cid), 0);
	return cid;
}

static inline uint32_t post(struct fixture *f, uint32_t opcode, uint64_t lba, uint32_t blocks)
{
	uint32_t cid = begin(f);

	assert_int_equal(gn_nvmeq_post(&f->q, cid, opcode, lba, blocks), 0);
	return cid;
}

static inline struct gn_nvme_command fetch(struct fixture *f)
{
	struct gn_nvme_command command;

	assert_int_equal(gn_nvme_port_fetch(&f->port, &command), 0);
	return command;
}

static inline void complete(struct fixture *f, uint32_t cid, uint32_t status)
{
	assert_int_equal(gn_nvme_port_complete(&f->port, (uint16_t)cid, status), 0);
}

static inline void finish(struct fixture *f, uint32_t cid)
{
	uint32_t status = 0xdead;

	assert_int_equal(gn_nvmeq_wait(&f->q, cid, later(), &status), 0);
	assert_int_equal(status, 0);
	gn_nvmeq_end(&f->q, cid);
}

/* A command through all its steps. */
static inline void round_trip(struct fixture *f, uint64_t lba)
{
	uint32_t cid = post(f, GN_NVME_READ, lba, 1);
	struct gn_nvme_command command = fetch(f);

	assert_int_equal(command.cid, cid);
	assert_int_equal(command.lba, lba);
	complete(f, cid, 0);
	finish(f, cid);
}

static inline uint32_t give_up(struct fixture *f, uint32_t opcode, uint64_t lba, uint32_t blocks)
{
	uint32_t status = 0xdead;
	uint32_t cid = post(f, opcode, lba, blocks);

	assert_int_equal(gn_nvmeq_wait(&f->q, cid, soon(), &status), -GN_ETIMEDOUT);
	assert_int_equal(status, 0);
	return cid;
}

#endif
