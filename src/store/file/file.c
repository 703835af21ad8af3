/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - file: stores: a file behind queue pairs. */
#include <store/controller/pairs.h>
#include <store/file/file.h>
#include <store/regular.h>
#include <store/store.h>

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 512, THREADS = 8 };

struct file_store {
	struct gn_store base; /* first */
	struct gn_medium medium;
	struct gn_file_target target;
	struct gn_pairs pairs;
	enum gn_store_io io;   /* the engine that the settings ask for */
	enum gn_store_io runs; /* the engine that runs */
};

static struct file_store *file_of(struct gn_store *store)
{
	return (struct file_store *)store;
}

static struct file_store *file_of_medium(struct gn_medium *medium)
{
	return (struct file_store *)(void *)((char *)medium - offsetof(struct file_store, medium));
}

static int open_engine(struct gn_medium *medium, struct gn_engine **engine, const struct gn_nvmeq *queue,
                       uint32_t count, struct gn_error *error)
{
	struct file_store *f = file_of_medium(medium);
	int rc = -GN_ENOTSUP;

	if (f->io != GN_IO_THREADS)
		rc = gn_uring_open(engine, &f->target, queue, count, count * queue->depth);
	if (!rc) {
		f->runs = GN_IO_URING;
		return 0;
	}
	if (f->io == GN_IO_URING)
		return gn_error_set(
		    error, rc,
		    "file: io=uring is not possible: this system refuses io_uring (%s); leave io=uring out",
		    gn_error_name(rc));
	f->runs = GN_IO_THREADS;
	rc = gn_threads_open(engine, &f->target, THREADS);
	return rc ? gn_error_set(error, rc,
	                         "file: the system cannot start the threads that read and write the file")
	          : 0;
}

static void describe(struct file_store *f)
{
	unsigned threads = gn_controller_threads(f->pairs.controller);
	const char *how = f->runs == GN_IO_URING   ? "io_uring"
	                  : f->io == GN_IO_THREADS ? "preadv in threads"
	                                           : "preadv in threads (io_uring is not permitted)";

	snprintf(f->base.path, sizeof f->base.path, "file, %s, %s, %u queue%s of %u, %u controller thread%s",
	         how, f->target.fd[GN_FILE_DIRECT] >= 0 ? "O_DIRECT" : "page cache", f->pairs.count,
	         f->pairs.count == 1 ? "" : "s", f->pairs.depth, threads, threads == 1 ? "" : "s");
}

static uint32_t block_bytes(const struct file_store *f)
{
	return f->target.offset_align > BLOCK ? f->target.offset_align : (uint32_t)BLOCK;
}

static int open_target(struct file_store *f, const struct gn_uri *uri,
                       const struct gn_store_settings *settings, struct gn_error *error)
{
	int fd, rc = gn_regular_open(uri, settings, 0, &fd, &f->medium.bytes, error);

	if (rc)
		return rc;
	rc = gn_file_target_init(&f->target, fd, uri->path, f->medium.bytes, settings->options.read_only,
	                         settings->direct, error);
	if (rc)
		gn_regular_close(fd);
	return rc;
}

static void close_target(struct file_store *f)
{
	gn_file_target_fini(&f->target);
	gn_regular_close(f->target.fd[GN_FILE_BUFFERED]);
}

static int open_all(struct file_store *f, const struct gn_uri *uri, const struct gn_store_settings *settings,
                    struct gn_error *error)
{
	int rc = open_target(f, uri, settings, error);

	if (rc)
		return rc;
	f->medium.open = open_engine;
	f->medium.read_only = settings->options.read_only;
	f->io = settings->io;
	rc = gn_pairs_open(&f->pairs, f->base.machine, settings, &f->medium, block_bytes(f), error);
	if (rc) {
		close_target(f);
		return rc;
	}
	gn_pairs_view(&f->pairs, settings, &f->medium, &f->base.view);
	gn_regular_mark(f->target.fd[GN_FILE_BUFFERED], f->base.mark, sizeof f->base.mark);
	describe(f);
	return 0;
}

static int file_open(struct gn_store **store, struct simt_machine *machine, const struct gn_uri *uri,
                     const struct gn_store_settings *settings, struct gn_error *error)
{
	struct file_store *f = (struct file_store *)calloc(1, sizeof *f);
	int rc;

	if (!f)
		return gn_error_set(error, -GN_ENOMEM, "file:%s: out of memory", uri->path);
	f->base.ops = &gn_store_file;
	f->base.machine = machine;
	rc = open_all(f, uri, settings, error);
	if (rc)
		free(f);
	else
		*store = &f->base;
	return rc;
}

static void file_close(struct gn_store *store)
{
	struct file_store *f = file_of(store);

	gn_pairs_close(&f->pairs);
	close_target(f);
	free(f);
}

static int file_read(struct gn_store *store, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	return gn_regular_read(file_of(store)->target.fd[GN_FILE_BUFFERED], store->name, offset, to, bytes,
	                       error);
}

static int file_write(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                      struct gn_error *error)
{
	return gn_regular_write(file_of(store)->target.fd[GN_FILE_BUFFERED], store->name, offset, from, bytes,
	                        error);
}

static int file_flush(struct gn_store *store, struct gn_error *error)
{
	return gn_regular_sync(file_of(store)->target.fd[GN_FILE_BUFFERED], store->name, error);
}

static void file_statistics(const struct gn_store *store, struct gn_store_statistics *statistics)
{
	gn_controller_get_statistics(((const struct file_store *)store)->pairs.controller, statistics);
}

const struct gn_store_ops gn_store_file = {
    "file",          GN_OPTION_RO | GN_OPTION_CREATE | GN_OPTION_DIRECT | GN_OPTION_IO | GN_OPTIONS_QUEUES,
    file_open,       NULL,
    file_close,      file_read,
    file_write,      file_flush,
    file_statistics, NULL};
