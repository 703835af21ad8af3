/* SPDX-License-Identifier: Apache-2.0 */
#include "store_move.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <store/uri.h>

enum { PIECE = 1 << 20 };

int tool_store_open(struct simt_machine **machine, struct gn_store **store, const char *uri, bool writes,
                    struct gn_error *e)
{
	struct simt_options cpu = {"cpu", 1, 0, SIMT_FAIR, 0};
	struct gn_store_options how = {0};
	int rc = simt_open(machine, &cpu, e);

	how.queue_count = 1;
	how.read_only = !writes;
	return rc ? rc : gn_store_open(store, *machine, uri, &how, e);
}

void tool_store_warn(const char *subcommand, const struct gn_store *store, bool failed)
{
	struct gn_store_member m;

	for (uint32_t k = 0; !gn_store_get_member(store, k, &m); k++)
		if (m.use != GN_MEMBER_USED && (m.use == GN_MEMBER_FAILED) == failed)
			fprintf(stderr,
			        "grapnel %s: member %u (%s) is out of use: %s; the others have its bytes\n",
			        subcommand, k + 1, m.uri, m.text);
}

static int copy_out(const struct tool_store_request *r, struct gn_store *store, FILE *to, char *piece,
                    struct gn_error *e)
{
	const uint64_t capacity = gn_store_view_of(store)->capacity_bytes;
	const uint64_t end = r->bytes ? r->offset + r->bytes : capacity;
	uint64_t at = r->offset;

	if (at > capacity || r->bytes > capacity - at)
		return gn_error_set(
		    e, -GN_ERANGE, "%s: %llu bytes from byte %llu on are not there: the store has %llu bytes",
		    r->uri, (unsigned long long)r->bytes, (unsigned long long)at,
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
static int check_room(const struct tool_store_request *r, const struct gn_store *store, FILE *from,
                      struct gn_error *e)
{
	const uint64_t capacity = gn_store_view_of(store)->capacity_bytes;
	struct stat st;

	if (!fstat(fileno(from), &st) && S_ISREG(st.st_mode) &&
	    (r->offset > capacity || (uint64_t)st.st_size > capacity - r->offset))
		return gn_error_set(e, -GN_ERANGE,
		                    "%s: %llu bytes do not fit from byte %llu on: the store has %llu bytes; "
		                    "nothing was written",
		                    r->uri, (unsigned long long)st.st_size, (unsigned long long)r->offset,
		                    (unsigned long long)capacity);
	return 0;
}

static int copy_in(const struct tool_store_request *r, struct gn_store *store, FILE *from, char *piece,
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
		return gn_error_set(e, -GN_EIO, "%s: reading failed: %s; give a file that can be read",
		                    r->file ? r->file : "standard input", strerror(errno));
	return gn_store_flush(store, e);
}

/* Are the bytes of this store, or of this member, in that file? */
static bool is_in(const char *uri, const struct stat *file)
{
	struct gn_uri *parts = (struct gn_uri *)malloc(sizeof *parts);
	struct stat st;
	bool same = parts && !gn_uri_parse(parts, uri, NULL) && !stat(parts->path, &st) &&
	            st.st_dev == file->st_dev && st.st_ino == file->st_ino;

	free(parts);
	return same;
}

static bool is_of_store(const struct tool_store_request *r, const struct gn_store *store)
{
	struct gn_store_member m;
	struct stat file;

	if (stat(r->file, &file) || !S_ISREG(file.st_mode))
		return false;
	for (uint32_t k = 0; !gn_store_get_member(store, k, &m); k++)
		if (is_in(m.uri, &file))
			return true;
	return is_in(r->uri, &file);
}

/* The store is open by now: a file is not emptied for a store that is not there, or is a part of the store.
 */
static int open_file(const struct tool_store_request *r, const struct gn_store *store, FILE **file,
                     struct gn_error *e)
{
	*file = r->writes ? stdin : stdout;
	if (!r->file)
		return 0;
	if (is_of_store(r, store))
		return gn_error_set(e, -GN_EINVAL, "%s: the store's bytes are in this file; name another one",
		                    r->file);
	*file = fopen(r->file, r->writes ? "rbe" : "wbe");
	return *file ? 0 : gn_error_set(e, -GN_EIO, "%s: the file cannot be opened; check the path", r->file);
}

/* Those of a tier are its levels, and behind them what can be put back. */
static int put_back(const struct tool_store_request *r, struct gn_store *store, struct gn_error *e)
{
	struct gn_error why = {0, ""};
	const uint32_t first = gn_store_view_of(store)->tier ? 2 : 0;
	struct gn_store_member m;
	uint32_t k;
	int rc;

	for (k = first; !gn_store_get_member(store, k, &m); k++) {
		if (m.use == GN_MEMBER_USED)
			continue;
		rc = gn_store_resync(store, k, &why);
		if (rc)
			return gn_error_set(e, rc, "the bytes are written; %.400s", why.text);
		fprintf(stderr, "grapnel %s: %s is in use again\n", r->subcommand, m.uri);
	}
	return k > first ? 0
	                 : gn_error_set(e, -GN_ENOTSUP,
	                                "the bytes are written; %s has no members to put back, so leave "
	                                "--resync out",
	                                r->uri);
}

/* The file's and the store's bytes. */
static int copy(const struct tool_store_request *r, struct gn_store *store, char *piece, struct gn_error *e)
{
	FILE *file;
	int rc = open_file(r, store, &file, e);

	if (rc)
		return rc;
	rc = r->writes ? copy_in(r, store, file, piece, e) : copy_out(r, store, file, piece, e);
	if (r->file && fclose(file) && !rc)
		rc = gn_error_set(e, -GN_EIO, "%s: writing failed; check the disk", r->file);
	return rc;
}

static int move(const struct tool_store_request *r, struct gn_error *e)
{
	char *piece = (char *)malloc(PIECE);
	struct simt_machine *machine = NULL;
	struct gn_store *store = NULL;
	int rc = piece ? tool_store_open(&machine, &store, r->uri, r->writes, e)
	               : gn_error_set(e, -GN_ENOMEM, "out of memory");

	if (!rc) {
		tool_store_warn(r->subcommand, store, false);
		rc = copy(r, store, piece, e);
		rc = rc || !r->resyncs ? rc : put_back(r, store, e);
		tool_store_warn(r->subcommand, store, true);
	}
	gn_store_close(store);
	if (machine)
		simt_close(machine);
	free(piece);
	return rc;
}

int tool_store_move(const struct tool_store_request *r)
{
	struct gn_error e = {0, ""};

	return move(r, &e) ? tool_fail(r->subcommand, &e) : TOOL_OK;
}
