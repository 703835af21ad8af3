/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feed bytes to the graph file's header, check and load. An input whose last byte is odd has its
 * checksums made right first, so that what lies behind them is reached.
 */
#include <string.h>
#include <zlib.h>

#include "graph/file.h"
#include "graph/layout.h"
#include "fuzz.h"

static void reseal_section(uint8_t *bytes, size_t size, unsigned at)
{
	uint64_t start = gn__get_u64(bytes, at + GN_SECTION_AT);
	uint64_t length = gn__get_u64(bytes, at + GN_SECTION_BYTES);

	if (start <= size && length <= size - start)
		gn__put_u32(bytes, at + GN_SECTION_CRC, (uint32_t)crc32(0, bytes + start, (uInt)length));
}

static void reseal(uint8_t *bytes, size_t size)
{
	if (size < GN_GRAPH_FILE_PAGE || !(bytes[size - 1] & 1))
		return;
	bytes[size - 1] = 0;
	reseal_section(bytes, size, GN_HEADER_OFFSETS);
	reseal_section(bytes, size, GN_HEADER_NEIGHBOURS);
	reseal_section(bytes, size, GN_HEADER_WEIGHTS);
	gn__put_u32(bytes, GN_HEADER_CRC, gn__header_crc(bytes));
}

static void require_agreement(const struct gn_graph_file *f)
{
	struct gn_error checked = {0};
	struct gn_error loaded = {0};
	struct gn_graph g;
	int check = gn_graph_file_check(f, NULL, &checked);
	int load = gn_graph_file_load(f, &g, UINT64_C(1) << 26, NULL, &loaded);

	/* padding is looked at only by the check */
	FUZZ_REQUIRE(check ? load || strstr(checked.text, "padding") : !load);
	FUZZ_REQUIRE(check ? checked.code == check && checked.text[0] : 1);
	if (!load) {
		FUZZ_REQUIRE(g.vertices == f->vertices && g.offsets[g.vertices] == f->edges);
		gn_graph_fini(&g);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return setenv("OMP_NUM_THREADS", "1", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gn_graph_file f;
	struct gn_error e = {0};
	int fd = fuzz_resealed_file(data, size, reseal), err;

	err = gn_graph_file_open_fd(&f, fd, "fuzz", &e);
	if (err) {
		FUZZ_REQUIRE(err < 0 && e.code == err && e.text[0]);
	} else {
		FUZZ_REQUIRE(f.bytes == size);
		require_agreement(&f);
		gn_graph_file_close(&f);
	}
	close(fd);
	return 0;
}
