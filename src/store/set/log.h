/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - which regions of a replica a member may have missed: a bit for each, in a file beside the state.
 *
 * There are two maps. `written`: regions that somebody began to write since the replica was opened. `missed`:
 * regions of which a member that is out of date lacks a write. Only bits are added while the replica is open.
 *
 * The file is mapped, and on the cpu machine kernels set the bits in it before they post a write. So it has
 * them also when the program is killed, but not when the system stops: the medium gets them when the replica
 * is closed. The state has the number of its log. It names the boot of the system in which the maps are live,
 * and the mount: a file system that failed may have lost them, and is mounted again without them. A log with
 * another number, or of another boot or mount, says nothing.
 */
#ifndef GN_STORE_SET_LOG_H
#define GN_STORE_SET_LOG_H

#include <stddef.h>
#include <stdint.h>

#include <grapnel/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_BOOT_BYTES = 64 };

/* Zero: none. */
struct gn_replica_log {
	char *path; /* owned */
	int fd;
	char *map; /* NULL: none */
	size_t bytes, map_bytes;
	uint64_t id;
	uint64_t capacity;    /* bytes of a member */
	uint32_t region_log2; /* bytes of a region */
	uint32_t *missed, *written;
};

/*
 * gn_replica_log_make - a log without a bit, on the medium.
 * @state  path of the state; the log is FILE.log
 * Returns 0, -GN_EBUSY (another program has it), -GN_EINVAL (a file that is no log is in its place), or codes
 * of open(2).
 */
int gn_replica_log_make(struct gn_replica_log *l, const char *state, uint64_t capacity,
                        struct gn_error *error);

/*
 * gn_replica_log_open - the log with this number. Returns 0, -GN_EBUSY (another program has it), -GN_EINVAL
 * (it is of members of a larger capacity), or -GN_ENOENT: there is none that can be trusted, for members of
 * this capacity.
 */
int gn_replica_log_open(struct gn_replica_log *l, const char *state, uint64_t id, uint64_t capacity,
                        struct gn_error *error);

/* gn_replica_log_sync - put the maps on the medium. Returns 0 or a negative code. */
int gn_replica_log_sync(struct gn_replica_log *l);

/* gn_replica_log_close - also of none. */
void gn_replica_log_close(struct gn_replica_log *l);

/* gn_replica_log_remove - close it, and remove the file. */
void gn_replica_log_remove(struct gn_replica_log *l);

/*
 * gn_replica_log_sweep - remove a log that this state file does not name: a program was killed when the file
 * named none any more and the log was not removed yet. A log that another program has stays, and so does what
 * is no log.
 */
void gn_replica_log_sweep(const char *state);

/* gn_replica_log_void - remove it; if the file stays all the same, no state has its number. */
void gn_replica_log_void(struct gn_replica_log *l);

/* gn_replica_log_words - words of each map. */
size_t gn_replica_log_words(const struct gn_replica_log *l);

/* gn_replica_log_add - what the written map has is missed, too. */
void gn_replica_log_add(struct gn_replica_log *l);

/* gn_replica_log_begin - nothing is written yet. */
void gn_replica_log_begin(struct gn_replica_log *l);

/*
 * gn_replica_log_next - the next bytes that are missed, from the first region that begins at *at or later:
 * *at is 0 or the end of the bytes before, which is within the last region if that is shorter than the
 * others. Returns how many lie side by side, with *at where they begin; 0: no more.
 */
uint64_t gn_replica_log_next(const struct gn_replica_log *l, uint64_t *at);

/*
 * gn_replica_boot - the number of the system's boot, and of the mount that has the log; an empty text if that
 * is not known. Who mounts a file system again gets another number. Kernels before Linux 6.8 may give the
 * same.
 */
void gn_replica_boot(const struct gn_replica_log *l, char boot[GN_BOOT_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
