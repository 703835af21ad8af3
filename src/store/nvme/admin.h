/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin.h - the admin commands of a controller. Host, any thread; each waits, at most drive->timeout_ns.
 * After one that timed out, and while the controller is not enabled, the others time out at once. Not after
 * one that asked for the log: a drive need not answer it to be of use, and no other command waits for it.
 */
#ifndef GN_STORE_NVME_ADMIN_H
#define GN_STORE_NVME_ADMIN_H

#include <store/nvme/drive.h>

/*
 * gn_drive_command - run one admin command.
 * @command  cid and PRPs are filled in here
 * @data     4096 bytes that the controller returns, or NULL
 * @result   dword 0 of the completion, or NULL
 * Returns 0; a code of gn_nvme_status_code with the status in the message; -GN_ETIMEDOUT; as gn_drive_health.
 */
int gn_drive_command(struct gn_drive *d, const char *what, const struct gn_nvme_command *command, void *data,
                     uint32_t *result, struct gn_error *error);

/* gn_drive_identify - fill d->identity. */
int gn_drive_identify(struct gn_drive *d, struct gn_error *error);

/*
 * gn_drive_namespace_of - what a namespace is.
 * Returns 0, -GN_ENOENT (no such namespace: says which there are), -GN_ENOTSUP (metadata or protection
 * information, blocks that are too large), or as gn_drive_command.
 */
int gn_drive_namespace_of(struct gn_drive *d, uint32_t nsid, struct gn_drive_namespace *ns,
                          struct gn_error *error);

/*
 * gn_drive_log_counts - what the drive has counted. Waits for other admin commands, and then log_timeout_ns
 * at most. As gn_drive_command; -GN_EBUSY: not during a reset, nor before one that is due.
 */
int gn_drive_log_counts(struct gn_drive *d, struct gn_drive_log *log, struct gn_error *error);

/* gn_drive_list - ids of active namespaces, ascending, at most 1024; *count receives how many. */
int gn_drive_list(struct gn_drive *d, uint32_t ids[1024], uint32_t *count, struct gn_error *error);

/* gn_drive_ask_queues - ask for I/O queue pairs; *count receives how many there are, at most those. */
int gn_drive_ask_queues(struct gn_drive *d, uint32_t *count, struct gn_error *error);

/* gn_drive_create_pair, gn_drive_delete_pair - tell the controller of an I/O queue pair, from 1. */
int gn_drive_create_pair(struct gn_drive *d, uint32_t id, const struct gn_drive_queue *queue,
                         struct gn_error *error);
int gn_drive_delete_pair(struct gn_drive *d, uint32_t id, struct gn_error *error);

/*
 * gn_drive_abort - ask the controller to abort a command; *done is 1 if it says that it did. Waits at most
 * timeout_ns, which is short: a controller that is well answers at once. It is sent at once, also while the
 * drive is asked for its log.
 */
int gn_drive_abort(struct gn_drive *d, uint32_t queue, uint32_t cid, uint64_t timeout_ns, int *done,
                   struct gn_error *error);

#endif
