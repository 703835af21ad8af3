/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvme.c - texts of status fields: those of the NVM Express base specification, section 4.2.3, that Grapnel's
 * controllers return.
 */
#include <queue/attach.h>

const char *gn_nvme_status_text(uint32_t status)
{
	switch (status) {
	case GN_NVME_OK: return "success";
	case GN_NVME_INVALID_OPCODE: return "invalid command opcode";
	case GN_NVME_INVALID_FIELD: return "invalid field in command";
	case GN_NVME_DATA_TRANSFER_ERROR: return "data transfer error";
	case GN_NVME_INTERNAL_ERROR: return "internal error";
	case GN_NVME_ABORT_REQUESTED: return "command aborted, as requested";
	case GN_NVME_ABORT_QUEUE_DELETED: return "command aborted, because its queue was deleted";
	case GN_NVME_INVALID_NAMESPACE: return "invalid namespace or format";
	case GN_NVME_NAMESPACE_NOT_READY: return "namespace not ready";
	case GN_NVME_RESERVATION_CONFLICT: return "reservation conflict";
	case GN_NVME_INVALID_QUEUE: return "invalid queue identifier";
	case GN_NVME_INVALID_QUEUE_SIZE: return "invalid queue size";
	case GN_NVME_ABORT_LIMIT: return "too many Abort commands";
	case GN_NVME_LBA_OUT_OF_RANGE: return "block address out of range";
	case GN_NVME_CAPACITY_EXCEEDED: return "capacity exceeded";
	case GN_NVME_NAMESPACE_WRITE_PROTECTED: return "namespace is write protected";
	case GN_NVME_WRITE_FAULT: return "write fault";
	case GN_NVME_UNRECOVERED_READ: return "unrecovered read error";
	case GN_NVME_ACCESS_DENIED: return "access denied";
	case GN_NVME_UNWRITTEN_BLOCK: return "block was deallocated or never written";
	case GN_NVME_HOST_PATH: return "connection to the device lost";
	case GN_NVME_HOST_ABORTED: return "command aborted: the controller was reset or is gone";
	default: return "a status that Grapnel does not know";
	}
}

int gn_nvme_status_code(uint32_t status)
{
	switch (status & GN_NVME_STATUS_MASK) {
	case GN_NVME_OK: return 0;
	case GN_NVME_CAPACITY_EXCEEDED: return -GN_ENOSPC;
	case GN_NVME_NAMESPACE_WRITE_PROTECTED: return -GN_EROFS;
	case GN_NVME_LBA_OUT_OF_RANGE: return -GN_ERANGE;
	case GN_NVME_ACCESS_DENIED: return -GN_EACCES;
	case GN_NVME_RESERVATION_CONFLICT: return -GN_EBUSY;
	case GN_NVME_INVALID_NAMESPACE: return -GN_ENODEV;
	case GN_NVME_INVALID_OPCODE:
	case GN_NVME_INVALID_FIELD: return -GN_ENOTSUP;
	default: return -GN_EIO;
	}
}
