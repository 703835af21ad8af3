/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers.h - the registers of an NVMe controller (NVM Express Base Specification 2.0, section 3.1.3), and
 * its admin commands (section 5).
 */
#ifndef GN_STORE_NVME_REGISTERS_H
#define GN_STORE_NVME_REGISTERS_H

#include <grapnel/nvme.h>

/* Offsets in BAR 0. */
enum {
	GN_REG_CAP = 0x00,
	GN_REG_VS = 0x08,
	GN_REG_CC = 0x14,
	GN_REG_CSTS = 0x1c,
	GN_REG_AQA = 0x24,
	GN_REG_ASQ = 0x28,
	GN_REG_ACQ = 0x30,
	GN_REG_DOORBELLS = 0x1000
};

/* Controller configuration. */
enum {
	GN_CC_EN = 1 << 0,
	GN_CC_CSS_ALL = 6 << 4, /* every I/O command set that the controller has */
	GN_CC_SHN_NORMAL = 1 << 14,
	GN_CC_SHN_MASK = 3 << 14,
	GN_CC_IOSQES_64 = 6 << 16, /* entries of 2^6 bytes */
	GN_CC_IOCQES_16 = 4 << 20
};

/* Controller status. A controller that is gone gives ones for every register. */
enum { GN_CSTS_RDY = 1 << 0, GN_CSTS_CFS = 1 << 1, GN_CSTS_SHST_DONE = 2 << 2, GN_CSTS_SHST_MASK = 3 << 2 };
#define GN_CSTS_GONE 0xffffffffu

/* Controller capabilities. */
static inline uint32_t gn_cap_entries(uint64_t cap) /* of the largest queue */
{
	return (uint32_t)(cap & 0xffff) + 1;
}

static inline uint64_t gn_cap_timeout_ns(uint64_t cap) /* the longest time to become ready, or not ready */
{
	return (cap >> 24 & 0xff) * 500000000u;
}

static inline uint32_t gn_cap_stride(uint64_t cap) /* bytes from a doorbell to the next */
{
	return 4u << (cap >> 32 & 15);
}

static inline uint32_t gn_cap_command_sets(uint64_t cap) /* bit 0: NVM; bit 6: several; bit 7: none */
{
	return (uint32_t)(cap >> 37 & 0xff);
}

static inline uint64_t gn_cap_least_page(uint64_t cap)
{
	return (uint64_t)4096 << (cap >> 48 & 15);
}

enum {
	GN_ADMIN_DELETE_SQ = 0x00,
	GN_ADMIN_CREATE_SQ = 0x01,
	GN_ADMIN_GET_LOG_PAGE = 0x02,
	GN_ADMIN_DELETE_CQ = 0x04,
	GN_ADMIN_CREATE_CQ = 0x05,
	GN_ADMIN_IDENTIFY = 0x06,
	GN_ADMIN_ABORT = 0x08,
	GN_ADMIN_SET_FEATURES = 0x09
};

enum { GN_IDENTIFY_NAMESPACE = 0, GN_IDENTIFY_CONTROLLER = 1, GN_IDENTIFY_ACTIVE = 2 };
enum { GN_FEATURE_QUEUES = 7 };
enum { GN_LOG_HEALTH = 2 };

#endif
