/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvme.c - texts of status fields: those of the NVM Express base specification, section 4.2.3, that Grapnel's
 * controllers return.
 */
#include <grapnel/nvme.h>

const char *gn_nvme_status_text(uint32_t status)
{
	switch (status) {
	case GN_NVME_OK: return "success";
	case GN_NVME_INVALID_OPCODE: return "invalid command opcode";
	case GN_NVME_INVALID_FIELD: return "invalid field in command";
	case GN_NVME_DATA_TRANSFER_ERROR: return "data transfer error";
	case GN_NVME_INTERNAL_ERROR: return "internal error";
	case GN_NVME_LBA_OUT_OF_RANGE: return "block address out of range";
	case GN_NVME_CAPACITY_EXCEEDED: return "capacity exceeded";
	case GN_NVME_NAMESPACE_WRITE_PROTECTED: return "namespace is write protected";
	case GN_NVME_WRITE_FAULT: return "write fault";
	case GN_NVME_UNRECOVERED_READ: return "unrecovered read error";
	default: return "a status that Grapnel does not know";
	}
}
