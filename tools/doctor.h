/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - what `grapnel doctor` finds out. Probing never fails: what cannot be found out is said
 * in words beside it.
 */
#ifndef GN_TOOL_DOCTOR_H
#define GN_TOOL_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

enum { DOCTOR_GPUS = 16, DOCTOR_TEXT = 200 };

struct doctor_memory {
	uint64_t total;
	uint64_t available;
	char transparent[16];     /* always, madvise, never, or unknown */
	uint64_t huge_page_bytes; /* size of a reserved huge page */
	uint64_t huge_pages;      /* reserved */
	uint64_t huge_pages_free;
	uint64_t lockable; /* ulimit -l, UINT64_MAX when unlimited */
};

struct doctor_try {
	bool works;
	char why[DOCTOR_TEXT]; /* how it works, or what forbids it and what to do */
};

/* A GPU as the PCI bus shows it. */
struct doctor_gpu {
	char address[16];
	char name[64]; /* of the CUDA runtime; else the PCI device number */
	char link_speed[32];
	char link_speed_max[32];
	unsigned link_width;
	unsigned link_width_max;
	uint64_t memory; /* 0 when only the CUDA runtime could tell and does not */
};

struct doctor {
	char kernel[80];
	unsigned cores;        /* of the machine */
	unsigned cores_usable; /* by this process */
	struct doctor_memory memory;
	struct doctor_try uring;
	const char *path; /* the directory or file asked about */
	struct doctor_try direct;
	struct doctor_gpu gpus[DOCTOR_GPUS];
	unsigned gpu_count;
	struct doctor_try cuda;
	struct doctor_try arrow; /* Apache Arrow, for Parquet and Arrow files */
	struct doctor_try nvme;  /* drives that a program can drive itself */
	struct doctor_try rdma;  /* devices that reach memory of other machines */
	struct doctor_try peer;  /* GPUs that reach each other's memory */
};

/* doctor_say - write down whether it works, and why or how. */
void doctor_say(struct doctor_try *t, bool works, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void doctor_probe_machine(struct doctor *d);
void doctor_probe_uring(struct doctor_try *t);
void doctor_probe_direct(struct doctor_try *t, const char *path);

void doctor_probe_arrow(struct doctor_try *t);

void doctor_probe_nvme(struct doctor_try *t);
void doctor_probe_rdma(struct doctor_try *t);

/* doctor_probe_pci - find NVIDIA GPUs below a directory such as /sys/bus/pci/devices. */
void doctor_probe_pci(struct doctor *d, const char *devices);

/* doctor_probe_cuda - ask the CUDA runtime; fills names and memory of the GPUs it knows. */
void doctor_probe_cuda(struct doctor *d);

#endif
