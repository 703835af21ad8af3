/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block.h - a namespace behind queue pairs: those that kernels use, and one for the host's own transfers.
 */
#ifndef GN_STORE_NVME_BLOCK_H
#define GN_STORE_NVME_BLOCK_H

#include <store/nvme/drive.h>

/* Zero before open. */
struct gn_block {
	struct gn_drive *drive;
	struct gn_drive_namespace ns;
	uint32_t nsid;
	char *reach;                 /* the registers, as kernels reach them */
	uint32_t count;              /* queue pairs of kernels; they have the ids 1 to count */
	struct gn_drive_queue *pair; /* [count + 1]; the last is the host's */
	struct gn_drive_queue *host;
	uint32_t created; /* pairs that the controller knows */
	int apart;        /* the host does not reach the state of kernels' pairs, nor they that of its own */
	uint64_t timeout_ns;
	uint64_t retries, failed; /* commands of the host that were sent again; that ended in an error */
	pthread_mutex_t lock;     /* one transfer of the host at a time */
	int open;
};

/*
 * gn_block_open - make queue pairs on a machine.
 * drive, ns, nsid, reach and timeout_ns are set.
 * @count    how many are wanted; fewer are made if the controller grants fewer
 * @options  of each; depth and buffer_bytes are made smaller where the controller wants that
 * Returns 0 or a negative code with the message set.
 */
int gn_block_open(struct gn_block *b, struct simt_machine *machine, uint32_t count,
                  const struct gn_nvmeq_options *options, struct gn_error *error);

/* gn_block_host_queues - pairs behind those of kernels that these must ask before they write: 0 or 1. */
uint32_t gn_block_host_queues(const struct gn_block *b);

/* gn_block_close - delete the queue pairs, if the controller still answers. Also after a failed open. */
void gn_block_close(struct gn_block *b);

/*
 * gn_block_read, gn_block_write - the host moves bytes at any offset. A write of parts of a block reads the
 * block first. Any host thread. Return 0, or a code with the message set. A write returns -GN_EBUSY where one
 * that timed out may still land, of the host or of kernels whose pairs the host reaches.
 */
int gn_block_read(struct gn_block *b, uint64_t offset, void *to, size_t bytes, struct gn_error *error);
int gn_block_write(struct gn_block *b, uint64_t offset, const void *from, size_t bytes,
                   struct gn_error *error);

/* gn_block_flush - all completed writes of every queue pair are on the medium. */
int gn_block_flush(struct gn_block *b, struct gn_error *error);

/* gn_block_deallocate - the blocks' bytes are not needed any more (Dataset Management). -GN_EBUSY as a write.
 */
int gn_block_deallocate(struct gn_block *b, uint64_t lba, uint64_t blocks, struct gn_error *error);

#endif
