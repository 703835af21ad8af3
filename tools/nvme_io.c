/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel nvme read and write: bytes of a namespace, by the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <grapnel/store.h>

#include "nvme.h"

enum { PIECE = 1 << 20, OPT_NS = 512, OPT_OFFSET, OPT_BYTES };

static const struct argp_option read_options[] = {
    {"ns", OPT_NS, "N", 0, "namespace (default 1)", 0},
    {"offset", OPT_OFFSET, "SIZE", 0, "the first byte (default 0)", 0},
    {"bytes", OPT_BYTES, "SIZE", 0, "how many (default: up to the end)", 0},
    {"file", 'f', "FILE", 0, "write them to FILE (default: standard output)", 0},
    {0},
};

static const struct argp_option write_options[] = {
    {"ns", OPT_NS, "N", 0, "namespace (default 1)", 0},
    {"offset", OPT_OFFSET, "SIZE", 0, "the first byte (default 0)", 0},
    {"file", 'f', "FILE", 0, "write the bytes of FILE (default: those of standard input)", 0},
    {"overwrite", 'w', NULL, 0, "yes, the bytes that the namespace has there may be lost; needed", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct nvme_request *r = (struct nvme_request *)state->input;

	switch (key) {
	case OPT_NS: r->nsid = (uint32_t)tool_number(state, "--ns", text, 1, 0xfffffffe); return 0;
	case OPT_OFFSET: r->offset = tool_size(state, "--offset", text, 0); return 0;
	case OPT_BYTES: r->bytes = tool_size(state, "--bytes", text, 1); return 0;
	case 'f': r->file = text; return 0;
	case 'w': r->overwrite = true; return 0;
	case ARGP_KEY_ARG: nvme_take_address(state, &r->address, text); return 0;
	case ARGP_KEY_END:
		nvme_need_address(state, r->address);
		if (r->writes && !r->overwrite)
			argp_error(state, "writing destroys what the namespace has; give --overwrite if that "
			                  "is meant");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp read_argp = {
    read_options, parse, "ADDRESS", "Read bytes of a namespace of a drive that vfio-pci has.",
    NULL,         NULL,  NULL};
static const struct argp write_argp = {
    write_options,
    parse,
    "ADDRESS",
    "Write bytes to a namespace of a drive that vfio-pci has, and flush. The bytes that were there are lost.",
    NULL,
    NULL,
    NULL};

static int open_store(const struct nvme_request *r, struct simt_machine **machine, struct gn_store **store,
                      struct gn_error *e)
{
	struct simt_options cpu = {"cpu", 1, 0, SIMT_FAIR, 0};
	char uri[80];
	int rc = simt_open(machine, &cpu, e);

	snprintf(uri, sizeof uri, "nvme:%.40s?ns=%u&queues=1%s", r->address, r->nsid, r->writes ? "" : "&ro");
	return rc ? rc : gn_store_open(store, *machine, uri, NULL, e);
}

static int copy_out(const struct nvme_request *r, struct gn_store *store, FILE *to, char *piece,
                    struct gn_error *e)
{
	const uint64_t capacity = gn_store_view_of(store)->capacity_bytes;
	const uint64_t end = r->bytes ? r->offset + r->bytes : capacity;
	uint64_t at = r->offset;

	if (at > capacity || r->bytes > capacity - at)
		return gn_error_set(
		    e, -GN_ERANGE,
		    "nvme:%s: %llu bytes from byte %llu on are not there: the namespace has %llu bytes",
		    r->address, (unsigned long long)r->bytes, (unsigned long long)at,
		    (unsigned long long)capacity);
	while (at < end) {
		size_t bytes = end - at < PIECE ? (size_t)(end - at) : (size_t)PIECE;
		int rc = gn_store_read_host(store, at, piece, bytes, e);

		if (rc)
			return rc;
		if (fwrite(piece, 1, bytes, to) != bytes)
			return gn_error_set(e, -GN_EIO, "writing %s failed; check the disk behind it",
			                    r->file ? r->file : "standard output");
		at += bytes;
	}
	return 0;
}

/* A file's bytes must fit before the first is written; of a pipe they are not known. */
static int check_room(const struct nvme_request *r, const struct gn_store *store, FILE *from,
                      struct gn_error *e)
{
	const uint64_t capacity = gn_store_view_of(store)->capacity_bytes;
	struct stat st;

	if (!fstat(fileno(from), &st) && S_ISREG(st.st_mode) &&
	    (r->offset > capacity || (uint64_t)st.st_size > capacity - r->offset))
		return gn_error_set(
		    e, -GN_ERANGE,
		    "nvme:%s: %llu bytes do not fit from byte %llu on: the namespace has %llu bytes; "
		    "nothing was written",
		    r->address, (unsigned long long)st.st_size, (unsigned long long)r->offset,
		    (unsigned long long)capacity);
	return 0;
}

static int copy_in(const struct nvme_request *r, struct gn_store *store, FILE *from, char *piece,
                   struct gn_error *e)
{
	uint64_t at = r->offset;
	size_t bytes;
	int room = check_room(r, store, from, e);

	if (room)
		return room;
	while ((bytes = fread(piece, 1, PIECE, from)) > 0) {
		int rc = gn_store_write_host(store, at, piece, bytes, e);

		if (rc)
			return rc;
		at += bytes;
	}
	if (ferror(from))
		return gn_error_set(e, -GN_EIO, "reading %s failed", r->file ? r->file : "standard input");
	return gn_store_flush(store, e);
}

static int move(const struct nvme_request *r, FILE *file, struct gn_error *e)
{
	char *piece = (char *)malloc(PIECE);
	struct simt_machine *machine = NULL;
	struct gn_store *store = NULL;
	int rc = piece ? open_store(r, &machine, &store, e) : gn_error_set(e, -GN_ENOMEM, "out of memory");

	if (!rc)
		rc = r->writes ? copy_in(r, store, file, piece, e) : copy_out(r, store, file, piece, e);
	gn_store_close(store);
	if (machine)
		simt_close(machine);
	free(piece);
	return rc;
}

static int run(const struct nvme_request *r)
{
	const char *name = r->writes ? "nvme write" : "nvme read";
	FILE *file = r->writes ? stdin : stdout;
	struct gn_error e = {0, ""};
	int rc;

	if (r->file)
		file = fopen(r->file, r->writes ? "rbe" : "wbe");
	if (!file) {
		gn_error_set(&e, -GN_EIO, "%s: the file cannot be opened; check the path", r->file);
		return tool_fail(name, &e);
	}
	rc = move(r, file, &e);
	if (r->file && fclose(file) && !rc)
		rc = gn_error_set(&e, -GN_EIO, "%s: writing failed; check the disk", r->file);
	return rc ? tool_fail(name, &e) : TOOL_OK;
}

int tool_nvme_read(int argc, char **argv)
{
	struct nvme_request r;

	memset(&r, 0, sizeof r);
	r.nsid = 1;
	argp_parse(&read_argp, argc, argv, 0, NULL, &r);
	return run(&r);
}

int tool_nvme_write(int argc, char **argv)
{
	struct nvme_request r;

	memset(&r, 0, sizeof r);
	r.nsid = 1;
	r.writes = true;
	argp_parse(&write_argp, argc, argv, 0, NULL, &r);
	return run(&r);
}
