/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

struct request {
	const char *path;
	bool json;
};

/* What the findings mean for one machine or store. */
struct verdict {
	const char *about;
	bool usable;
	char why[DOCTOR_TEXT + 80];
};

enum { VERDICTS = 7 };

static const struct argp_option options[] = {
    {"path", 'p', "PATH", 0,
     "directory or file on whose file system O_DIRECT is tried (default: the current directory)"},
    {"json", 'j', NULL, 0, "print one JSON object"},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *r = (struct request *)state->input;

	switch (key) {
	case 'p': r->path = arg; return 0;
	case 'j': r->json = true; return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: unexpected argument; doctor takes options only, see --help", arg);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Say what this machine has, and which machines (--machine) and stores (--store) of Grapnel work on it.",
};

static void probe(struct doctor *d, const char *path)
{
	d->path = path;
	doctor_probe_machine(d);
	doctor_probe_uring(&d->uring);
	doctor_probe_direct(&d->direct, path);
	doctor_probe_arrow(&d->arrow);
	doctor_probe_nvme(&d->nvme);
	doctor_probe_rdma(&d->rdma);
	doctor_probe_pci(d, "/sys/bus/pci/devices");
#ifdef GN_CUDA
	doctor_probe_cuda(d);
#else
	snprintf(d->cuda.why, sizeof d->cuda.why, "this program was built without CUDA; %s",
	         d->gpu_count ? "build it with -DGN_CUDA=ON"
	                      : "there is no NVIDIA GPU on the PCI bus either, use --machine cpu");
	doctor_say(
	    &d->peer, false,
	    "this program was built without CUDA; on the machine cpu host memory stands for that of GPUs");
#endif
}

static void judge_host(struct verdict *v, const struct doctor *d)
{
	const struct doctor_memory *m = &d->memory;
	bool reserved = m->huge_pages_free > 0;

	v->about = "store host:";
	v->usable = true;
	snprintf(
	    v->why, sizeof v->why, "up to %.1f GiB; %s", (double)m->available / 0x1p30,
	    reserved ? "reserved huge pages are available"
	    : strcmp(m->transparent, "never")
	        ? "transparent huge pages"
	        : "small pages only; for more speed enable transparent huge pages or reserve huge pages");
}

static void judge_file(struct verdict *v, const struct doctor *d)
{
	v->about = "store file:";
	v->usable = true;
	if (!d->uring.works)
		snprintf(v->why, sizeof v->why, "slower, with threads that block, because io_uring is %s",
		         d->uring.why);
	else if (d->direct.works)
		snprintf(v->why, sizeof v->why, "io_uring with O_DIRECT");
	else
		snprintf(v->why, sizeof v->why, "io_uring through the page cache: %s", d->direct.why);
}

static void judge(struct verdict *v, const struct doctor *d)
{
	v[0].about = "machine cpu";
	v[0].usable = true;
	snprintf(v[0].why, sizeof v[0].why, "%u thread%s by default", d->cores_usable,
	         d->cores_usable == 1 ? "" : "s");
	v[1].about = "machine cuda";
	v[1].usable = d->cuda.works;
	snprintf(v[1].why, sizeof v[1].why, "%s", d->cuda.why);
	judge_host(&v[2], d);
	judge_file(&v[3], d);
	v[4].about = "store nvme:";
	v[4].usable = d->nvme.works;
	snprintf(v[4].why, sizeof v[4].why, "%s", d->nvme.why);
	v[5].about = "store rdma:";
	v[5].usable = d->rdma.works;
	snprintf(v[5].why, sizeof v[5].why, "%s", d->rdma.why);
	v[6].about = "store peer:";
	v[6].usable = d->peer.works;
	snprintf(v[6].why, sizeof v[6].why, "%s", d->peer.why);
}

static void print_gpu(const struct doctor_gpu *g)
{
	printf("  gpu %-12s %s", g->address, g->name);
	if (g->memory)
		printf(", %.1f GiB", (double)g->memory / 0x1p30);
	if (g->link_width)
		printf(", link x%u at %s (most: x%u at %s)", g->link_width, g->link_speed, g->link_width_max,
		       g->link_speed_max);
	putchar('\n');
}

static void print_memory(const struct doctor_memory *m)
{
	printf("  memory           %.1f GiB, %.1f GiB available\n", (double)m->total / 0x1p30,
	       (double)m->available / 0x1p30);
	printf("  huge pages       transparent: %s; reserved: %llu of %llu KiB, %llu free\n", m->transparent,
	       (unsigned long long)m->huge_pages, (unsigned long long)(m->huge_page_bytes >> 10),
	       (unsigned long long)m->huge_pages_free);
	if (m->lockable == UINT64_MAX)
		printf("  ulimit -l        unlimited\n");
	else
		printf("  ulimit -l        %.1f MiB may be locked\n", (double)m->lockable / 0x1p20);
}

static void print_text(const struct doctor *d, const struct verdict *v)
{
	printf("This machine\n");
	printf("  kernel           %s\n", d->kernel);
	printf("  cores            %u, %u usable here\n", d->cores, d->cores_usable);
	print_memory(&d->memory);
	printf("  io_uring         %s: %s\n", d->uring.works ? "yes" : "no", d->uring.why);
	printf("  O_DIRECT         %s: %s\n", d->direct.works ? "yes" : "no", d->direct.why);
	printf("  Parquet, Arrow   %s: %s\n", d->arrow.works ? "yes" : "no", d->arrow.why);
	if (!d->gpu_count)
		printf("  gpu              none on the PCI bus\n");
	for (unsigned k = 0; k < d->gpu_count; k++)
		print_gpu(&d->gpus[k]);
	printf("What that means\n");
	for (unsigned k = 0; k < VERDICTS; k++)
		printf("  %-16s %s: %s\n", v[k].about, v[k].usable ? "yes" : "no", v[k].why);
}

static json_t *json_memory(const struct doctor_memory *m)
{
	json_t *lockable = m->lockable == UINT64_MAX ? json_null() : json_integer((json_int_t)m->lockable);

	return json_pack("{s:I, s:I, s:s, s:I, s:I, s:I, s:o}", "total_bytes", (json_int_t)m->total,
	                 "available_bytes", (json_int_t)m->available, "transparent_huge_pages",
	                 m->transparent, "huge_page_bytes", (json_int_t)m->huge_page_bytes, "huge_pages",
	                 (json_int_t)m->huge_pages, "huge_pages_free", (json_int_t)m->huge_pages_free,
	                 "lockable_bytes", lockable);
}

static json_t *json_try(const struct doctor_try *t)
{
	return json_pack("{s:b, s:o}", "works", (int)t->works, "why", tool_json_text(t->why));
}

static json_t *json_gpus(const struct doctor *d)
{
	json_t *list = json_array();

	for (unsigned k = 0; k < d->gpu_count; k++) {
		const struct doctor_gpu *g = &d->gpus[k];

		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:I, s:s, s:i, s:s, s:i}", "address", g->address, "name",
		                    g->name, "memory_bytes", (json_int_t)g->memory, "link_speed",
		                    g->link_speed, "link_width", (int)g->link_width, "link_speed_max",
		                    g->link_speed_max, "link_width_max", (int)g->link_width_max));
	}
	return list;
}

static json_t *json_verdicts(const struct verdict *v)
{
	json_t *all = json_object();

	for (unsigned k = 0; k < VERDICTS; k++)
		json_object_set_new(
		    all, v[k].about,
		    json_pack("{s:b, s:o}", "usable", (int)v[k].usable, "why", tool_json_text(v[k].why)));
	return all;
}

static int print_json(const struct doctor *d, const struct verdict *v)
{
	json_t *root = json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
	                         "grapnel-doctor-1", "kernel", d->kernel, "cores", (int)d->cores,
	                         "cores_usable", (int)d->cores_usable, "memory", json_memory(&d->memory),
	                         "io_uring", json_try(&d->uring), "path", tool_json_text(d->path), "o_direct",
	                         json_try(&d->direct), "gpus", json_gpus(d), "cuda", json_try(&d->cuda),
	                         "arrow", json_try(&d->arrow), "usable", json_verdicts(v));
	int failed;

	if (!root) {
		fputs("grapnel doctor: the report cannot be written as JSON: out of memory\n", stderr);
		return TOOL_FAILED;
	}
	failed = json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
	return failed ? TOOL_FAILED : TOOL_OK;
}

int tool_doctor(int argc, char **argv)
{
	struct request r = {".", false};
	struct doctor d;
	struct verdict v[VERDICTS];

	memset(&d, 0, sizeof d);
	memset(v, 0, sizeof v);
	argp_parse(&argp, argc, argv, 0, NULL, &r);
	probe(&d, r.path);
	judge(v, &d);
	if (r.json)
		return print_json(&d, v);
	print_text(&d, v);
	return TOOL_OK;
}
