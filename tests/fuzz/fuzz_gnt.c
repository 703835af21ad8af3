/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feed bytes to the column file's header, directory, check and parts. An input whose last byte is odd has its
 * checksums made right first, so that what lies behind them is reached.
 */
#include <string.h>
#include <zlib.h>

#include "columns/file.h"
#include "columns/layout.h"
#include "fuzz.h"

static void reseal_section(uint8_t *bytes, size_t size, uint64_t at)
{
	const uint64_t start = gn__get_u64(bytes, at + GN_PART_AT);
	const uint64_t length = gn__get_u64(bytes, at + GN_PART_BYTES);

	if (start <= size && length <= size - start)
		gn__put_u32(bytes, at + GN_PART_CRC, (uint32_t)crc32(0, bytes + start, (uInt)length));
}

static void reseal(uint8_t *bytes, size_t size)
{
	const uint64_t pages = size / GN_TABLE_FILE_PAGE;
	uint64_t entries, directory;

	if (pages < 2 || !(bytes[size - 1] & 1))
		return;
	bytes[size - 1] = 0;
	entries = gn__get_u32(bytes, GN_TABLE_COLUMNS);
	directory = gn__table_page_up(entries * GN_ENTRY_WIDTH);
	if (entries > GN_COLUMN_MOST || directory > size - GN_TABLE_FILE_PAGE)
		return;
	for (uint64_t k = 0; k < entries; k++)
		for (uint64_t part = GN_ENTRY_DATA; part < GN_ENTRY_END; part += 24)
			reseal_section(bytes, size, GN_TABLE_FILE_PAGE + k * GN_ENTRY_WIDTH + part);
	gn__put_u32(bytes, GN_TABLE_DIRECTORY_CRC,
	            (uint32_t)crc32(0, bytes + GN_TABLE_FILE_PAGE, (uInt)directory));
	gn__put_u32(bytes, GN_TABLE_CRC, gn__table_crc(bytes));
}

/* What the check finds sound can be read in parts. */
static void require_parts(const struct gn_table_file *f, int checked)
{
	for (uint32_t k = 0; k < f->column_count; k++) {
		const struct gn_column *c = &f->columns[k];
		struct gn_dictionary d;
		struct gn_zone *zones;
		const int zones_rc = gn_table_zones(f, c, &zones, NULL);
		const int rc = c->type == GN_COLUMN_STRING ? gn_table_dictionary(f, c, &d, NULL) : -1;

		FUZZ_REQUIRE(checked || !zones_rc);
		FUZZ_REQUIRE(checked || !rc || c->type != GN_COLUMN_STRING);
		if (!rc) {
			FUZZ_REQUIRE(d.offsets[d.words] <= c->dictionary.bytes);
			free(d.memory);
		}
		free(zones);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gn_table_file f;
	struct gn_error e = {0};
	int fd = fuzz_resealed_file(data, size, reseal), err;

	err = gn_table_open_fd(&f, fd, "fuzz", &e);
	if (err) {
		FUZZ_REQUIRE(err < 0 && e.code == err && e.text[0]);
	} else {
		FUZZ_REQUIRE(f.bytes == size);
		require_parts(&f, gn_table_check(&f, NULL, &e));
		gn_table_close(&f);
	}
	close(fd);
	return 0;
}
