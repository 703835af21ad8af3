/* SPDX-License-Identifier: Apache-2.0 */
#include <store/set/state.h>
#include <store/store.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "grapnel log 1\n"
enum { HEADER_BYTES = 4096, REGION_LEAST_LOG2 = 12, REGIONS_MOST_LOG2 = 20, OPENINGS_MOST = 8 };
#define LOCK_PATIENCE_NS 1000000000u

/* The begin of the file; the maps of missed and written follow, each of whole pages. */
struct header {
	char magic[16];
	uint64_t id, capacity;
};

/* ---- geometry ---- */

static uint64_t regions_of(const struct gn_replica_log *l)
{
	return (l->capacity + ((uint64_t)1 << l->region_log2) - 1) >> l->region_log2;
}

static void measure(struct gn_replica_log *l, uint64_t capacity)
{
	l->capacity = capacity;
	l->region_log2 = REGION_LEAST_LOG2;
	while (regions_of(l) >> REGIONS_MOST_LOG2)
		l->region_log2++;
	l->map_bytes = ((size_t)(regions_of(l) / 8) / HEADER_BYTES + 1) * HEADER_BYTES;
	l->bytes = HEADER_BYTES + 2 * l->map_bytes;
}

size_t gn_replica_log_words(const struct gn_replica_log *l)
{
	return l->map_bytes / sizeof(uint32_t);
}

/* ---- the file ---- */

static int refuse(struct gn_replica_log *l, int error_number, struct gn_error *error)
{
	return gn_error_set(error, gn_store_code(error_number),
	                    "replica: %s, the log of missed writes, cannot be made: %s; make its folder "
	                    "writable and give it room, or put the state elsewhere",
	                    l->path, strerror(error_number));
}

static int name_it(struct gn_replica_log *l, const char *state, struct gn_error *error)
{
	const size_t bytes = strlen(state) + sizeof ".log";

	memset(l, 0, sizeof *l);
	l->fd = -1;
	l->path = (char *)malloc(bytes);
	if (!l->path)
		return gn_error_set(error, -GN_ENOMEM, "replica: out of memory");
	snprintf(l->path, bytes, "%s.log", state);
	return 0;
}

/* 1: locked, or the file system has no locks. A program that was killed keeps a lock until it has ended. */
static int lock(int fd)
{
	const struct timespec little = {0, 1000000};
	const uint64_t deadline = simt_clock_ns() + LOCK_PATIENCE_NS;

	while (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		if (simt_clock_ns() > deadline)
			return 0;
		nanosleep(&little, NULL);
	}
	return 1;
}

/* 1: whoever had the lock before has removed the file. */
static int is_removed(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_nlink;
}

/*
 * One program at a time has the log. O_NONBLOCK: opening a FIFO must not wait for its other end. There are
 * file systems on which every file seems to be removed.
 */
static int open_file(struct gn_replica_log *l, int flags, struct gn_error *error)
{
	for (int left = OPENINGS_MOST; left; left--) {
		l->fd = open(l->path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0644);
		if (l->fd < 0)
			return errno == ENOENT ? -GN_ENOENT : refuse(l, errno, error);
		if (!lock(l->fd))
			break;
		if (left == 1 || !is_removed(l->fd))
			return 0;
		close(l->fd);
	}
	return gn_error_set(error, -GN_EBUSY,
	                    "replica: another program writes the members, by its log %s; wait until it has "
	                    "ended",
	                    l->path);
}

/* 1: an empty file, or a log of whatever number. */
static int is_ours(int fd)
{
	struct header h;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	return !st.st_size ||
	       (pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h && !memcmp(h.magic, MAGIC, sizeof MAGIC));
}

/* The room is taken now: a write to a mapped page without room would end the process. */
static int map_file(struct gn_replica_log *l)
{
	const int rc = posix_fallocate(l->fd, 0, (off_t)l->bytes);
	void *map;

	if (rc)
		return rc;
	map = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, 0);
	if (map == MAP_FAILED)
		return errno;
	l->map = (char *)map;
	l->missed = (uint32_t *)(void *)(l->map + HEADER_BYTES);
	l->written = (uint32_t *)(void *)(l->map + HEADER_BYTES + l->map_bytes);
	return 0;
}

/* The number comes first, with maps that are empty: whatever the file was, it is that no more. */
static int fill_file(struct gn_replica_log *l)
{
	struct header h;
	int rc;

	if (getrandom(&l->id, sizeof l->id, 0) != (ssize_t)sizeof l->id)
		return errno;
	l->id |= 1; /* 0 is none */
	if (ftruncate(l->fd, 0))
		return errno;
	rc = map_file(l);
	if (rc)
		return rc;
	memset(&h, 0, sizeof h);
	memcpy(h.magic, MAGIC, sizeof MAGIC);
	h.id = l->id;
	h.capacity = l->capacity;
	memcpy(l->map, &h, sizeof h);
	rc = gn_replica_log_sync(l) ? EIO : 0;
	return rc ? rc : gn_replica_sync_folder(l->path);
}

int gn_replica_log_make(struct gn_replica_log *l, const char *state, uint64_t capacity,
                        struct gn_error *error)
{
	int rc = name_it(l, state, error);

	if (!rc)
		rc = open_file(l, O_CREAT, error);
	if (!rc && !is_ours(l->fd))
		rc = gn_error_set(
		    error, -GN_EINVAL,
		    "replica: %s is in the place of the log of missed writes, and is none; move it "
		    "elsewhere, or name another state",
		    l->path);
	if (!rc) {
		measure(l, capacity);
		rc = fill_file(l);
		rc = rc ? refuse(l, rc, error) : 0;
	}
	if (rc)
		gn_replica_log_close(l);
	return rc;
}

/*
 * 1: the file has this number, and the maps of such members. The fsync asks whether the system has lost bytes
 * of it since the program ended that wrote it.
 */
static int is_that(const struct gn_replica_log *l, uint64_t id)
{
	struct header h;
	struct stat st;

	if (!is_ours(l->fd) || fstat(l->fd, &st) || (uint64_t)st.st_size != l->bytes || fsync(l->fd))
		return 0;
	return pread(l->fd, &h, sizeof h, 0) == (ssize_t)sizeof h && h.id == id && h.capacity == l->capacity;
}

/* Members of which a part was rebuilt would count as up to date, and lack what the log says of the rest. */
static int refuse_part(const struct gn_replica_log *l, uint64_t id, struct gn_error *error)
{
	struct header h;

	if (!is_ours(l->fd) || pread(l->fd, &h, sizeof h, 0) != (ssize_t)sizeof h || h.id != id ||
	    h.capacity <= l->capacity)
		return 0;
	return gn_error_set(
	    error, -GN_EINVAL,
	    "replica: %llu bytes of each member were written, by the log %s, and not all members have "
	    "them, so %llu are too few; rebuild without size=, or with size=%llu; if the rest is not "
	    "needed, remove the state and rebuild --from the number of the member that is right",
	    (unsigned long long)h.capacity, l->path, (unsigned long long)l->capacity,
	    (unsigned long long)h.capacity);
}

int gn_replica_log_open(struct gn_replica_log *l, const char *state, uint64_t id, uint64_t capacity,
                        struct gn_error *error)
{
	int rc = name_it(l, state, error);

	if (!rc)
		rc = open_file(l, 0, error);
	measure(l, capacity);
	if (!rc)
		rc = refuse_part(l, id, error);
	if (!rc && (!is_that(l, id) || map_file(l)))
		rc = -GN_ENOENT;
	l->id = id;
	if (rc)
		gn_replica_log_close(l);
	return rc && rc != -GN_EBUSY && rc != -GN_ENOMEM && rc != -GN_EINVAL ? -GN_ENOENT : rc;
}

int gn_replica_log_sync(struct gn_replica_log *l)
{
	return msync(l->map, l->bytes, MS_SYNC) || fsync(l->fd) ? -GN_EIO : 0;
}

void gn_replica_log_close(struct gn_replica_log *l)
{
	if (l->map)
		munmap(l->map, l->bytes);
	if (l->path && l->fd >= 0) {
		flock(l->fd, LOCK_UN); /* also if a child process still has the file open */
		close(l->fd);
	}
	free(l->path);
	memset(l, 0, sizeof *l);
}

/* It is removed while it is locked: who opens the name afterwards makes a file of its own. */
void gn_replica_log_remove(struct gn_replica_log *l)
{
	if (l->map)
		unlink(l->path);
	gn_replica_log_close(l);
}

void gn_replica_log_sweep(const char *state)
{
	struct gn_replica_log l;
	struct gn_error error = {0, ""};
	struct stat st;

	if (name_it(&l, state, &error))
		return;
	if (!open_file(&l, 0, &error) && !fstat(l.fd, &st) && st.st_size && is_ours(l.fd))
		unlink(l.path);
	gn_replica_log_close(&l);
}

void gn_replica_log_void(struct gn_replica_log *l)
{
	if (l->map)
		((struct header *)(void *)l->map)->id = 0;
	gn_replica_log_remove(l);
}

/* ---- the maps ---- */

void gn_replica_log_add(struct gn_replica_log *l)
{
	for (size_t k = 0; k < gn_replica_log_words(l); k++)
		l->missed[k] |= l->written[k];
}

void gn_replica_log_begin(struct gn_replica_log *l)
{
	memset(l->written, 0, l->map_bytes);
}

static int is_missed(const struct gn_replica_log *l, uint64_t region)
{
	return (int)(l->missed[region / 32] >> region % 32 & 1);
}

uint64_t gn_replica_log_next(const struct gn_replica_log *l, uint64_t *at)
{
	const uint64_t regions = regions_of(l);
	uint64_t first = (*at + ((uint64_t)1 << l->region_log2) - 1) >> l->region_log2, last, end;

	while (first < regions && !is_missed(l, first))
		first++;
	for (last = first; last < regions && is_missed(l, last);)
		last++;
	if (last == first)
		return 0;
	*at = first << l->region_log2;
	end = last << l->region_log2;
	return (end < l->capacity ? end : l->capacity) - *at;
}

static void boot_number(char *text, int size)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(text, size, file))
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
}

void gn_replica_boot(const struct gn_replica_log *l, char boot[GN_BOOT_BYTES])
{
	const unsigned unique = 0x4000; /* STATX_MNT_ID_UNIQUE of Linux 6.8; headers may be older */
	char number[40];
	struct statx st;

	boot_number(number, sizeof number);
	*boot = '\0';
	if (*number && !statx(l->fd, "", AT_EMPTY_PATH, STATX_MNT_ID | unique, &st) &&
	    st.stx_mask & (STATX_MNT_ID | unique))
		snprintf(boot, GN_BOOT_BYTES, "%s %llu", number, (unsigned long long)st.stx_mnt_id);
}
