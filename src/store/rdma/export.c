/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/export.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <store/regular.h>

enum { PIECE = 64 << 10 };

static int usage(const char *text, struct gn_error *error)
{
	return gn_error_set(
	    error, -GN_EINVAL,
	    "%s: this exports nothing; give NAME=FILE or NAME=memory:SIZE, such as "
	    "data=/d/edges.bin or scratch=memory:4G; a name has 1 to 32 letters, digits, '.', "
	    "'-' or '_'",
	    text);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash ^= value;
	hash *= 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

/* A file that nobody may write is the same after the server was started again, if it is the same file. */
static uint64_t instance_of_file(int fd)
{
	struct stat st;
	uint64_t hash = 1;

	if (fstat(fd, &st))
		return 0;
	hash = mix(hash, st.st_dev);
	hash = mix(hash, st.st_ino);
	hash = mix(hash, (uint64_t)st.st_size);
	hash = mix(hash, (uint64_t)st.st_mtim.tv_sec);
	hash = mix(hash, (uint64_t)st.st_mtim.tv_nsec);
	hash = mix(hash, (uint64_t)st.st_ctim.tv_sec);
	return mix(hash, (uint64_t)st.st_ctim.tv_nsec);
}

static int choose_instance(struct gn_export *x, struct gn_error *error)
{
	if (!x->instance && getrandom(&x->instance, sizeof x->instance, 0) != (ssize_t)sizeof x->instance)
		return gn_error_set(error, -GN_EIO, "the system gives no random number: %s", strerror(errno));
	return 0;
}

static int open_memory(struct gn_export *x, const char *size, struct gn_error *error)
{
	if (gn_size_parse(size, &x->bytes) || !x->bytes)
		return gn_error_set(error, -GN_EINVAL,
		                    "%s=memory:%s: \"%s\" is not a size; give for example %s=memory:4G",
		                    x->name, size, size, x->name);
	return gn_region_allocate(&x->region, x->bytes, error);
}

static int load(struct gn_export *x, struct gn_error *error)
{
	int rc;

	if (!x->bytes)
		return gn_error_set(error, -GN_EINVAL, "%s: the file is empty; give one that has bytes",
		                    x->path);
	rc = gn_region_allocate(&x->region, x->bytes, error);
	return rc ? rc : gn_regular_read(x->fd, x->path, 0, x->region.memory, x->bytes, error);
}

/* Load a file that nobody may write here: its instance must be that of the bytes that were read. */
static int load_unchanged(struct gn_export *x, struct gn_error *error)
{
	int rc;

	x->instance = instance_of_file(x->fd);
	rc = load(x, error);
	return rc || instance_of_file(x->fd) == x->instance
	           ? rc
	           : gn_error_set(
	                 error, -GN_EBUSY,
	                 "%s: the file was changed while it was read; end its writer, and start again",
	                 x->path);
}

static int open_file(struct gn_export *x, const char *path, struct gn_error *error)
{
	struct gn_store_settings settings;
	struct gn_uri *uri = (struct gn_uri *)calloc(1, sizeof *uri);
	int rc;

	x->path = strdup(path);
	if (!uri || !x->path) {
		free(uri);
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory", path);
	}
	memset(&settings, 0, sizeof settings);
	settings.options.read_only = x->read_only;
	uri->scheme = "file";
	uri->path = x->path;
	rc = gn_regular_open(uri, &settings, 0, &x->fd, &x->bytes, error);
	free(uri);
	if (rc)
		x->fd = -1; /* closed */
	if (rc == -GN_EBUSY)
		return gn_error_set(
		    error, rc,
		    "%s: another program has this file open to write it; end that program, or lend "
		    "the file with --read-only",
		    path);
	if (rc == -GN_ENOENT)
		return gn_error_set(
		    error, rc,
		    "%s: there is no such file; check the path ('truncate -s SIZE FILE' makes a file)", path);
	return rc ? rc : x->read_only ? load_unchanged(x, error) : load(x, error);
}

int gn_export_open(struct gn_export *export_, const char *text, int read_only, struct gn_error *error)
{
	const char *equals = strchr(text, '='), *what = equals ? equals + 1 : "";
	const size_t length = equals ? (size_t)(equals - text) : 0;
	int rc;

	memset(export_, 0, sizeof *export_);
	export_->fd = -1;
	export_->read_only = read_only;
	if (!length || length > GN_HELLO_NAME || !*what)
		return usage(text, error);
	memcpy(export_->name, text, length);
	if (!gn_hello_is_name(export_->name))
		return usage(text, error);
	rc = strncmp(what, "memory:", 7) ? open_file(export_, what, error)
	                                 : open_memory(export_, what + 7, error);
	rc = rc ? rc : choose_instance(export_, error);
	if (rc)
		gn_export_close(export_);
	return rc;
}

/* Write a piece if the file has other bytes. */
static int renew(struct gn_export *x, uint64_t at, char *scratch, struct gn_error *error)
{
	const size_t bytes = x->bytes - at < PIECE ? (size_t)(x->bytes - at) : (size_t)PIECE;
	int rc = gn_regular_read(x->fd, x->path, at, scratch, bytes, error);

	if (rc || (!x->unsure && !memcmp(scratch, x->region.memory + at, bytes)))
		return rc;
	return gn_regular_write(x->fd, x->path, at, x->region.memory + at, bytes, error);
}

int gn_export_flush(struct gn_export *export_, struct gn_error *error)
{
	char *scratch;
	int rc = 0;

	if (export_->fd < 0 || export_->read_only)
		return 0;
	scratch = (char *)malloc(PIECE);
	if (!scratch)
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory", export_->path);
	for (uint64_t at = 0; at < export_->bytes && !rc; at += PIECE)
		rc = renew(export_, at, scratch, error);
	free(scratch);
	if (rc)
		return rc;
	/* a system reports bytes that it could not write once: the next flush writes all of them again */
	rc = gn_regular_sync(export_->fd, export_->path, error);
	export_->unsure = rc != 0;
	return rc;
}

void gn_export_close(struct gn_export *export_)
{
	if (export_->region.memory)
		gn_region_free(&export_->region);
	if (export_->fd >= 0)
		gn_regular_close(export_->fd);
	free(export_->path);
	export_->region.memory = NULL;
	export_->path = NULL;
	export_->fd = -1;
}
