/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvme.h - the formats of NVM Express that a queue pair carries (NVM Express Base Specification 2.0,
 * sections 3.3.3 and 4.2; NVM Command Set Specification 1.0, section 3). Little-endian.
 */
#ifndef GRAPNEL_NVME_H
#define GRAPNEL_NVME_H

#include <grapnel/error.h>

/* A submission queue entry. */
struct gn_nvme_command {
	uint8_t opcode;
	uint8_t flags; /* fused operation and PRP/SGL selection: 0 */
	uint16_t cid;  /* command identifier: comes back in the completion */
	uint32_t nsid; /* namespace, from 1 */
	uint32_t cdw2, cdw3;
	uint64_t metadata;
	uint64_t prp1;  /* bus address of the first memory page */
	uint64_t prp2;  /* of the second, or of a list of the second and the following ones */
	uint64_t lba;   /* starting logical block: command dwords 10 and 11 */
	uint32_t cdw12; /* low 16 bits: number of logical blocks less one */
	uint32_t cdw13, cdw14, cdw15;
};

/* A completion queue entry. */
struct gn_nvme_completion {
	uint32_t result;
	uint32_t reserved;
	uint16_t sq_head; /* how far the controller has fetched the submission queue */
	uint16_t sq_id;
	uint16_t cid;
	uint16_t status; /* bit 0: phase; bits 1 to 15: status field */
};

GN__STATIC_ASSERT(sizeof(struct gn_nvme_command) == 64, "a submission queue entry has 64 bytes");
GN__STATIC_ASSERT(sizeof(struct gn_nvme_completion) == 16, "a completion queue entry has 16 bytes");
#if !defined(__CUDACC_RTC__) /* it has no offsetof */
GN__STATIC_ASSERT(offsetof(struct gn_nvme_command, prp1) == 24, "PRP1 is at byte 24");
GN__STATIC_ASSERT(offsetof(struct gn_nvme_command, lba) == 40, "SLBA is at byte 40");
GN__STATIC_ASSERT(offsetof(struct gn_nvme_completion, cid) == 12, "CID is at byte 12");
#endif

/* Opcodes of the NVM command set. */
enum { GN_NVME_FLUSH = 0x00, GN_NVME_WRITE = 0x01, GN_NVME_READ = 0x02, GN_NVME_DATASET_MANAGEMENT = 0x09 };

/*
 * Status field values: status code type (SCT) in bits 8 to 10, status code (SC) in bits 0 to 7. This is the
 * completion's status member shifted right by one, without the "more" and "do not retry" bits.
 */
enum {
	GN_NVME_OK = 0x000,
	GN_NVME_INVALID_OPCODE = 0x001,
	GN_NVME_INVALID_FIELD = 0x002,
	GN_NVME_DATA_TRANSFER_ERROR = 0x004,
	GN_NVME_INTERNAL_ERROR = 0x006,
	GN_NVME_ABORT_REQUESTED = 0x007,
	GN_NVME_ABORT_QUEUE_DELETED = 0x008,
	GN_NVME_INVALID_NAMESPACE = 0x00b,
	GN_NVME_LBA_OUT_OF_RANGE = 0x080,
	GN_NVME_CAPACITY_EXCEEDED = 0x081,
	GN_NVME_NAMESPACE_WRITE_PROTECTED = 0x020,
	GN_NVME_NAMESPACE_NOT_READY = 0x082,
	GN_NVME_RESERVATION_CONFLICT = 0x083,
	GN_NVME_INVALID_QUEUE = 0x101,
	GN_NVME_INVALID_QUEUE_SIZE = 0x102,
	GN_NVME_ABORT_LIMIT = 0x103,
	GN_NVME_WRITE_FAULT = 0x280,
	GN_NVME_UNRECOVERED_READ = 0x281,
	GN_NVME_ACCESS_DENIED = 0x286,
	GN_NVME_UNWRITTEN_BLOCK = 0x287,
	GN_NVME_HOST_PATH = 0x370,    /* by the host: the connection to the device is lost */
	GN_NVME_HOST_ABORTED = 0x371, /* by the host: the controller was reset, or it is gone */
	GN_NVME_STATUS_MASK = 0x7ff,
	GN_NVME_DO_NOT_RETRY = 0x4000 /* a bit beside the status: the same command would fail again */
};

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/*
 * gn_nvme_status_text - a status field in words, such as "unrecovered read error". For a status without
 * a name GN_NVME_... it is "a status that Grapnel does not know". Static. Host, any thread.
 */
const char *gn_nvme_status_text(uint32_t status);

#ifdef __cplusplus
}
#endif
#endif

/* A memory page of the PRP scheme; CC.MPS = 0. */
enum { GN_NVME_PAGE = 4096 };

#endif
