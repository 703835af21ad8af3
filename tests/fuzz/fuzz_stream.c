/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feed bytes to the reader of recorded streams, and run what it takes for one: every instruction has lines
 * within its memory. An input whose last byte is odd has its checksum made right first.
 */
#include <string.h>
#include <zlib.h>

#include <sim/stream.h>

#include "fuzz.h"

static void reseal(uint8_t *bytes, size_t size)
{
	const size_t head = sizeof(struct sim_stream_head), at = offsetof(struct sim_stream_head, blocks);
	uint32_t crc;

	if (size < head || !(bytes[size - 1] & 1))
		return;
	bytes[size - 1] = 0;
	crc = (uint32_t)crc32_z(0, bytes, size - head);
	memcpy(bytes + size - head + at, &crc, sizeof crc);
}

/* A wavefront as far as it goes in so many instructions: a few bytes can stand for very many. */
static void run_wave(struct sim_wave *w, uint64_t bytes)
{
	struct sim_op op;
	struct gn_error e;

	for (uint32_t k = 0; k < 10000; k++) {
		FUZZ_REQUIRE(!sim_wave_next(w, &op, &e));
		if (op.kind == SIM_OP_END || op.kind == SIM_OP_BARRIER)
			return;
		if (op.kind != SIM_OP_LOAD && op.kind != SIM_OP_STORE)
			continue;
		FUZZ_REQUIRE(op.count && op.count <= SIM_MOST_LINES);
		for (uint32_t n = 0; n < op.count; n++)
			FUZZ_REQUIRE(op.line[n].bytes && op.line[n].address < bytes &&
			             op.line[n].address % SIM_LINE_BYTES == 0);
	}
}

static void run(struct sim_stream *s)
{
	struct sim_waves *waves;
	struct sim_launch l;

	FUZZ_REQUIRE(!sim_waves_create(&waves));
	while (sim_stream_next(s, 0, &l))
		for (uint32_t k = 0; k < sim_launch_groups(&l) && k < 64; k++) {
			struct sim_group *g = sim_group_begin(waves, &l, k, 0);

			FUZZ_REQUIRE(g);
			for (uint32_t n = 0; n < sim_group_waves(g); n++)
				run_wave(sim_group_wave(g, n), sim_stream_pages(s) * SIM_PAGE_BYTES);
			sim_group_end(g);
		}
	FUZZ_REQUIRE(sim_stream_ended(s));
	sim_waves_destroy(waves);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = fuzz_resealed_file(data, size, reseal), rc;
	struct gn_error e = {0};
	struct sim_stream *s;

	rc = sim_stream_open(&s, fd, "fuzz", &e);
	close(fd);
	if (rc) {
		FUZZ_REQUIRE(rc < 0 && e.code == rc && e.text[0]);
		return 0;
	}
	run(s);
	sim_stream_close(s);
	return 0;
}
