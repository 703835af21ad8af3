/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feed bytes to the importer of comma-separated values: it refuses them, or writes a file that is sound and
 * has as many rows as it says. Types are given for a column named a.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columns/file.h"
#include "columns/import.h"
#include "fuzz.h"

static char folder[] = "/tmp/grapnel-fuzz-XXXXXX";
static char out[64];

static void remove_out(void)
{
	unlink(out);
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	FUZZ_REQUIRE(mkdtemp(folder));
	snprintf(out, sizeof out, "%s/out.gnt", folder);
	return atexit(remove_out);
}

static void require_sound(uint64_t rows)
{
	struct gn_table_file f;
	struct gn_error e = {0};

	FUZZ_REQUIRE(!gn_table_open(&f, out, &e));
	FUZZ_REQUIRE(!gn_table_check(&f, NULL, &e));
	FUZZ_REQUIRE(f.rows == rows);
	gn_table_close(&f);
	unlink(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gn_import_options o = {NULL, (int)(size & 1), {NULL, NULL}};
	struct gn_import_report report;
	struct gn_error e = {0};
	int fd = fuzz_file(data, size), err;
	char name[64];

	if (size > 1 && data[0] == 'a' && data[1] == ',')
		o.types = size & 2 ? "a=decimal(3)" : "a=u32";
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	err = gn_table_import(name, out, &o, &report, &e);
	if (err) {
		FUZZ_REQUIRE(err < 0 && e.code == err && e.text[0] && access(out, F_OK));
	} else {
		FUZZ_REQUIRE(o.skip_bad || !report.bad);
		require_sound(report.rows);
	}
	gn_import_report_free(&report);
	close(fd);
	return 0;
}
