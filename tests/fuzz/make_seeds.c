/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write a few small right inputs for every target, as DIRECTORY/TARGET/NUMBER: a fuzzer that starts
 * from them gets past the first line at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <grapnel/detail/net/message.h>
#include <sim/stream.h>
#include <store/rdma/hello.h>

#include "columns/write.h"
#include "graph/file.h"

struct seed {
	const char *target;
	const char *text;
};

/* A report of a cell that was measured, one that was not, and a context with what the writers look for. */
#define REPORT(unit, row, direction, limit, second, args, value)                                             \
	"{\"context\": {\"scope_version\": 1, \"host_name\": \"<&>\", \"date\": \"2026\", \"num_cpus\": 2, " \
	"\"load_avg\": [9, 1, 1],\n"                                                                         \
	"\"caches\": [{\"size\": 512}], \"cpu\": {\"governor\": \"powersave\"}, \"virtual_machine\": "       \
	"{\"guest\": true},\n"                                                                               \
	"\"gpu_links\": [{\"current_link_speed\": \"8 GT/s\", \"max_link_speed\": \"32 GT/s\", "             \
	"\"current_link_width\": \"8\","                                                                     \
	"\"max_link_width\": \"16\"}], \"gpus\": [{\"l2_bytes\": 4096, \"pcie_generation\": 5, "             \
	"\"pcie_width\": 16, \"peer\":\n"                                                                    \
	"[false, false]}]}, \"rows\": [{\"name\": \"" row "\", \"direction\": \"" direction                  \
	"\", \"limit\": \"" limit "\",\n"                                                                    \
	"\"second\": " second ", \"unit\": \"" unit                                                          \
	"\", \"timer\": \"events\"}], \"cells\": [{\"name\": \"a\", \"row\": \"" row "\",\n"                 \
	"\"arguments\": {" args                                                                              \
	"}, \"status\": \"measured\", \"why\": \"\", \"samples\": 2, \"operations\": 1, \"bytes\": 4096},\n" \
	"{\"name\": \"b\", \"row\": \"" row                                                                  \
	"\", \"arguments\": {}, \"status\": \"failed\", \"why\": \"|\\\"<\"}],\n"                            \
	"\"benchmarks\": [{\"name\": \"a\", \"real_time\": 5, \"time_unit\": \"us\", " value "},\n"          \
	"{\"name\": \"a\", \"real_time\": 6, \"time_unit\": \"us\", " value "}]}"

static const struct seed seeds[] = {
    {"el", "# c\n0 1\n1 2\n2 0\n"},
    {"el", "# 4,2,d,graph\n0 1\n3 3\n"},
    {"el", "% c\n\n 5\t6 \r\n4000000 1\n"},
    {"wel", "0 1 5\n1 0 -3\n1 1 2147483647\n"},
    {"wel", "# 2,1,u\n0 1 +7\n"},
    {"mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n3 3 2\n1 2\n3 1\n"},
    {"mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 0.5\n2 1 -1e3\n"},
    {"mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 -7\n"},
    {"report", REPORT("bytes_per_second", "copy/pinned-to-device", "h2d", "pcie", "null", "\"bytes\": 4096",
                      "\"bytes_per_second\": 5e9")},
    {"report", REPORT("seconds", "latency/host", "none", "pcie", "null", "\"span\": 4096", "\"x\": 0")},
    {"report",
     REPORT("seconds", "latency/loaded", "none", "pcie", "\"load\"", "\"blocks\": 4", "\"load\": 5e9")},
    {"report", REPORT("bytes_per_second", "copy/peer", "d2d-both", "nvlink", "null", "\"from\": 0, \"to\": 1",
                      "\"bytes_per_second\": 1")},
    {"report", REPORT("operations_per_second", "grapnel-gpu/hit-random", "none", "memory", "null", "",
                      "\"items_per_second\": 1e9")},
    {"csv", "a,b\n1,2.50\n,\"x\"\n"},
    {"csv", "a,\"b \"\"c\"\"\"\r\n1.5,\"two\nlines\"\r\n3\n"},
    {"csv", "x,y\n1e3,-0.05\n3000000000,7\n"},
    {"query", "m >= 2.5 and not (w = 'x' or i is null)"},
    {"query", "(m - 1) * i / 3e0 + -d"},
    {"query", "'x' <> w or d is not null"},
    {"size", "4096"},
    {"size", "1.5TiB"},
    {"size", "64KB"},
    {"size", "18446744073709551615"},
    {"hello", "//[fe80::1%eth0]:7474/data"},
    {"members", "grapnel replica 1\nopen 1\nok file:/a\nstale nvme:01:00.0?ns=2\nend\n"},
    {"members", "grapnel replica 2\nopen 0\nlog 00000000000000a1\nboot 5-6\nok file:/a\nis 7-8\n"
                "missed file:/b\nend\n"},
    {"members", "stripe:unit=64K,file:/a%2Cb?direct=0,nvme:01:00.0?ns=2,memq:64M"},
    {"members", "tier:line=64K,peer:1?size=16G,stripe:file:/a,file:/b"},
};

/* 0 -> 1, with the reverse rows that a directed .sg has */
static const unsigned char sg[17 + 2 * 28] = {
    1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, [25] = 1, [33] = 1, [41] = 1, [61] = 1,
};

/* 0 - 1 of weight 5 */
static const unsigned char wsg[17 + 24 + 16] = {
    0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, [25] = 1, [33] = 2, [41] = 1, [45] = 5, [53] = 5,
};

/* 0 -> 1 and 2, 2 -> 0 */
static const uint32_t bcsr[8] = {3, 3, 0, 2, 2, 1, 2, 0};
static const uint32_t bwcsr[11] = {3, 3, 0, 2, 2, 1, 7, 2, 9, 0, 5};

/* The same; how long the first two of the three files are is said before (fuzz_graph.c). */
static const struct {
	unsigned char bytes[2];
	uint64_t col[6], dst[5];
	uint32_t val[7];
} __attribute__((packed)) bel = {{48, 40}, {4, 0, 0, 2, 2, 3}, {3, 0, 1, 2, 0}, {3, 0, 0, 0, 7, 9, 5}};

static char *name(const char *directory, const char *target, unsigned number)
{
	static char path[4096];

	snprintf(path, sizeof path, "%s/%s", directory, target);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/%s/%u", directory, target, number);
	return path;
}

static void put(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void put_gng(const char *path, uint32_t weight)
{
	uint64_t offsets[4] = {0, 2, 3, 4};
	uint32_t neighbours[4] = {1, 2, 2, 0};
	struct gn_graph g = {3, 4, offsets, neighbours, weight ? neighbours : NULL, GN_GRAPH_SORTED, weight};
	struct gn_error e = {0};

	if (gn_graph_file_write(&g, path, NULL, &e)) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
}

/* A number that is missing in the second row, and two words. */
static void put_gnt(const char *path)
{
	static const struct gn_column columns[] = {{"n", GN_COLUMN_I32}, {"w", GN_COLUMN_STRING}};
	struct gn_table_writer *w;
	struct gn_error e = {0};
	int rc = gn_table_writer_begin(&w, path, columns, 2, 2, &e);

	for (int k = 0; k < 2 && !rc; k++) {
		struct gn_cell cell[2] = {{k, {k}}, {0, {0}}};

		rc = gn_table_word(w, 1, k ? "two" : "one", 3, &cell[1].value, &e);
		if (!rc)
			rc = gn_table_writer_row(w, cell, &e);
	}
	if (rc || gn_table_writer_end(w, &e)) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
}

/* Messages of node 2: an addition, a signal, bytes there and back, a mark, and one that goes on to node 0. */
static void put_packets(const char *directory)
{
	const uint32_t wide = GN__MESSAGE_WIDE, fetch = GN__MESSAGE_FETCH, bytes = GN__MESSAGE_BYTES;
	struct {
		unsigned char class_;
		uint64_t word[15];
	} __attribute__((packed))
	packet = {2,
	          {gn__message_head((GN__MESSAGE_CHANGE + GN_ADD) | wide, 2, 16), 5,
	           gn__message_head(GN__MESSAGE_SIGNAL, 2, 16),
	           gn__message_head((GN__MESSAGE_CHANGE + GN_CAS) | fetch, 2, 16), 1, 2, 7,
	           gn__message_head(bytes, 2, 9), 100, 1, 2, gn__message_head(bytes | fetch, 2, 9), 100, 7,
	           gn__message_head(GN__MESSAGE_CALL, 2, 0)}};

	put(name(directory, "packet", 0), &packet, sizeof packet);
	packet.class_ = 3;
	packet.word[0] = gn__message_readdress(packet.word[0], 0);
	put(name(directory, "packet", 1), &packet, sizeof packet);
	packet.class_ = 0;
	packet.word[0] = gn__message_head(GN__MESSAGE_REPLY, 2, 1 << 16 | 3);
	put(name(directory, "packet", 2), &packet, sizeof packet);
	/*
	 * a token that would make a call of the reply's head, so that the value behind it were a head: of
	 * more than there is
	 */
	packet.class_ = 2;
	packet.word[0] = gn__message_head((GN__MESSAGE_CHANGE + GN_PUT) | wide, 2, 16);
	packet.word[1] = gn__message_head(bytes, 2, GN__MESSAGE_MOST_BYTES);
	for (uint32_t k = 2; k < 14; k += 2) {
		packet.word[k] = gn__message_head((GN__MESSAGE_CHANGE + GN_GET) | wide | fetch, 2, 16);
		packet.word[k + 1] = (uint64_t)GN__MESSAGE_CALL << 58;
	}
	put(name(directory, "packet", 3), &packet, 1 + 14 * sizeof packet.word[0]);
}

/* Node 2 says that its program failed, with a code that has no positive. */
static void put_end(const char *directory)
{
	const struct {
		unsigned char class_;
		uint64_t head, said;
	} __attribute__((packed))
	packet = {2, gn__message_head(GN__MESSAGE_CALL | GN__MESSAGE_FETCH, 2, gn__message_call_place(0, 8)),
	          1ull << 63};

	put(name(directory, "packet", 5), &packet, sizeof packet);
}

/* Additions of node 2, compressed (net/compress.h): a byte of each head differs, none of the operands. */
static void put_compressed(const char *directory)
{
	const struct {
		unsigned char class_;
		uint16_t words, messages;
		unsigned char columns, zero;
		uint64_t head;
		unsigned char head_from, head_count;
		uint64_t operand;
		unsigned char operand_from, operand_count, place[4];
	} __attribute__((packed)) packet = {
	    64 + 2, 8, 4, 2, 0, gn__message_head((GN__MESSAGE_CHANGE + GN_ADD) | GN__MESSAGE_WIDE, 2, 0),
	    0,      1, 5, 0, 0, {16, 18, 20, 24}};

	put(name(directory, "packet", 4), &packet, sizeof packet);
}

/* A message of each kind with which an RDMA connection begins, and a note of a flush. */
static void put_hellos(const char *directory)
{
	const struct gn_hello_request request = {1, 2, GN_HELLO_CONTROL, "data"};
	const struct gn_hello_answer answer = {1 << 20, 1 << 20, 3, 4, 512, GN_HELLO_FILE};
	const struct gn_hello_note note = {GN_HELLO_DONE, 5, -GN_EIO};
	uint8_t bytes[GN_HELLO_REFUSAL_BYTES];

	gn_hello_put_request(bytes, &request);
	put(name(directory, "hello", 0), bytes, GN_HELLO_REQUEST_BYTES);
	gn_hello_put_answer(bytes, &answer);
	put(name(directory, "hello", 1), bytes, GN_HELLO_ANSWER_BYTES);
	gn_hello_put_refusal(bytes, "no");
	put(name(directory, "hello", 2), bytes, sizeof bytes);
	gn_hello_put_note(bytes, &note);
	put(name(directory, "hello", 3), bytes, GN_HELLO_NOTE_BYTES);
}

/* One warp that does something of everything, and two blocks of two that end at once. */
static void put_stream(const char *path)
{
	static const struct sim_line line[] = {{0, UINT64_MAX}, {128, 0x8000000000000001}};
	struct sim_stream_head head = {1, 1, 1, 1, "one"};
	struct sim_code code[4] = {{0}};
	struct sim_stream_writer w;
	struct gn_error e = {0};
	FILE *to = fopen(path, "wb");
	int rc = to ? sim_stream_begin(&w, to, &e) : -1;

	sim_code_blocks(code, 300);
	sim_code_lines(code, SIM_OP_LOAD, line, 2);
	sim_code_wait(code, 1);
	sim_code_barrier(code);
	sim_code_lines(code, SIM_OP_STORE, line, 1);
	sim_code_end(code);
	if (!rc)
		rc = sim_stream_put_launch(&w, &head, code, &e);
	code[0].used = 0;
	for (unsigned k = 0; k < 4; k++)
		sim_code_end(&code[k]);
	head.blocks = head.warps = 2;
	if (!rc)
		rc = sim_stream_put_launch(&w, &head, code, &e);
	if (!rc)
		rc = sim_stream_end(&w, &e);
	if (rc || fclose(to)) {
		fprintf(stderr, "%s: %s\n", path, e.text);
		exit(1);
	}
	for (unsigned k = 0; k < 4; k++)
		free(code[k].bytes);
}

int main(int argc, char **argv)
{
	const char *directory = argc == 2 ? argv[1] : ".";

	mkdir(directory, 0777);
	for (unsigned k = 0; k < sizeof seeds / sizeof seeds[0]; k++)
		put(name(directory, seeds[k].target, k), seeds[k].text, strlen(seeds[k].text));
	put(name(directory, "sg", 0), sg, sizeof sg);
	put(name(directory, "wsg", 0), wsg, sizeof wsg);
	put(name(directory, "bcsr", 0), bcsr, sizeof bcsr);
	put(name(directory, "bwcsr", 0), bwcsr, sizeof bwcsr);
	put(name(directory, "bel", 0), &bel, sizeof bel);
	put(name(directory, "bel", 1), &bel, 2 + sizeof bel.col + sizeof bel.dst);
	put_gng(name(directory, "gng", 0), GN_WEIGHT_NONE);
	put_gng(name(directory, "gng", 1), GN_WEIGHT_I32);
	put_gnt(name(directory, "gnt", 0));
	put_hellos(directory);
	put_packets(directory);
	put_compressed(directory);
	put_end(directory);
	put_stream(name(directory, "stream", 0));
	return 0;
}
