/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drive.h - an NVMe controller that this process drives: reset, enable, admin commands, shutdown.
 *
 * The functions need registers and a way to give memory a bus address, and nothing else of the system. VFIO
 * provides both (vfio.h); tests provide memory with a thread behind it.
 */
#ifndef GN_STORE_NVME_DRIVE_H
#define GN_STORE_NVME_DRIVE_H

#include <pthread.h>

#include <grapnel/nvmeq.h>
#include <store/nvme/registers.h>

/* Makes memory reachable by the controller. */
struct gn_dma {
	/* Sets *bus to the address by which the controller reaches page-aligned memory. */
	int (*map)(struct gn_dma *dma, void *memory, size_t bytes, uint64_t *bus, struct gn_error *error);
	void (*unmap)(struct gn_dma *dma, void *memory, size_t bytes, uint64_t bus);
	/*
	 * Takes the controller's access to all memory away, for good, when it cannot be stopped. Returns 0,
	 * or a negative code: it may still reach memory. NULL: there is no way.
	 */
	int (*cut)(struct gn_dma *dma);
};

/* The memory of a queue pair, as the controller knows it. */
struct gn_drive_queue {
	struct gn_nvmeq q;
	struct simt_machine *machine;
	struct gn_dma *dma;
	uint64_t sq_bus, cq_bus, buffer_bus, list_bus; /* 0: not mapped */
};

/* What Identify Controller says. */
struct gn_drive_identity {
	char serial[21], model[41], firmware[9];
	uint16_t vendor, id; /* PCI vendor, controller id */
	uint32_t version;
	uint32_t namespaces;     /* the largest namespace id */
	uint64_t transfer_bytes; /* the most that a command moves; 0: no limit */
	uint32_t aborts;         /* Abort commands at once */
	int has_cache;           /* a volatile write cache: flush matters */
	int has_deallocate;
};

/* What the log page SMART / Health Information says: counted since the drive was made. */
struct gn_drive_log {
	uint64_t reads, writes;             /* commands of hosts */
	uint64_t read_units, written_units; /* of a thousand times 512 bytes, begun ones too */
};

/* What Identify Namespace says. */
struct gn_drive_namespace {
	uint64_t blocks;
	uint32_t block_bytes;
	uint32_t metadata_bytes; /* of a block */
	int protected_;          /* end-to-end protection information is on */
};

/* Zero before open. Not moved afterwards. */
struct gn_drive {
	char name[24]; /* in messages */
	char *registers;
	size_t register_bytes;
	struct gn_dma *dma;
	struct simt_machine *host; /* a cpu machine: the admin queue lies in its memory */
	uint64_t cap;
	struct gn_drive_queue admin;
	pthread_mutex_t asking;  /* one command at a time that asks for the log; taken before lock */
	pthread_mutex_t lock;    /* one other admin command at a time; who asks for the log posts under it */
	int open;                /* the mutexes are there */
	uint64_t timeout_ns;     /* of an admin command */
	uint64_t log_timeout_ns; /* of the one that asks for the log */
	uint32_t enabled;        /* CC.EN was set, and CSTS.RDY followed */
	uint32_t changes;        /* of enabled, ever */
	uint32_t mute;      /* no admin command is sent: one timed out, or the controller is not enabled */
	uint32_t resetting; /* by the thread that looks after it (watch.h) */
	uint64_t aborts;    /* Abort commands that were sent */
	uint32_t failed;    /* for good; why says why */
	struct gn_error why;
	struct gn_drive_identity identity;
};

/* gn_drive_read, gn_drive_write - a register of 32 bits. */
uint32_t gn_drive_read(const struct gn_drive *d, unsigned offset);
void gn_drive_write(const struct gn_drive *d, unsigned offset, uint32_t value);

/*
 * gn_drive_health - 0, or -GN_ENODEV (the controller is gone), -GN_EIO (its status is fatal, or somebody else
 * has stopped it), or the code of gn_drive_fail; says so.
 */
int gn_drive_health(const struct gn_drive *d, struct gn_error *error);

/* gn_drive_fail - from now on gn_drive_health returns this. Only the first call counts. One thread. */
void gn_drive_fail(struct gn_drive *d, const struct gn_error *why);

/*
 * gn_drive_open - reset the controller, enable it with an admin queue and identify it.
 * name, registers, register_bytes, dma and host are set.
 * Returns 0, -GN_ENOTSUP (what it lacks), -GN_ETIMEDOUT, -GN_EIO, -GN_ENODEV, -GN_ENOMEM.
 */
int gn_drive_open(struct gn_drive *d, struct gn_error *error);

/* gn_drive_close - shut the controller down and disable it; give the memory back. Also after a failed open.
 */
void gn_drive_close(struct gn_drive *d);

#define GN_DRIVE_SHUTDOWN_NS 10000000000u

/* gn_drive_shut_down - tell an enabled controller to write its cache to its medium; does not wait. */
void gn_drive_shut_down(struct gn_drive *d);

/* gn_drive_is_down - 1: it has done so, or never will. */
int gn_drive_is_down(const struct gn_drive *d);

/* gn_drive_disable - CC.EN = 0: after it the controller moves no data and knows no queue but the admin's. */
int gn_drive_disable(struct gn_drive *d, struct gn_error *error);

/* gn_drive_enable - after disable: renew the admin queue and enable the controller. */
int gn_drive_enable(struct gn_drive *d, struct gn_error *error);

/* gn_drive_make_queue, gn_drive_free_queue - a queue pair in memory that the controller reaches. */
int gn_drive_make_queue(struct gn_drive_queue *queue, struct simt_machine *machine, struct gn_dma *dma,
                        const struct gn_nvmeq_options *options, struct gn_error *error);
void gn_drive_free_queue(struct gn_drive_queue *queue);

/* gn_drive_doorbell - where the register of a queue is: of its tail (head 0) or its completions' head (1). */
size_t gn_drive_doorbell(const struct gn_drive *d, uint32_t queue, unsigned head);

#endif
