/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine itself says: links, peers, clocks, a guest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/findings.h"
#include "scope/output/limits.h"

/* A figure at the beginning of a text such as "32.0 GT/s PCIe". */
static double number_of(const json_t *list, size_t k, const char *member)
{
	const json_t *v = json_object_get(json_array_get(list, k), member);

	return json_is_string(v) ? atof(json_string_value(v)) : json_is_number(v) ? json_number_value(v) : 0;
}

/* Links idle at a lower speed; only what was read under load counts where there is such. */
static void find_trained_down(struct scope_finding *f)
{
	const json_t *busy = scope_read_context(f->r, "gpu_links_busy");
	const json_t *list = json_array_size(busy) ? busy : scope_read_context(f->r, "gpu_links");

	for (size_t k = 0; k < json_array_size(list); k++) {
		const double speed = number_of(list, k, "current_link_speed"),
		             fastest = number_of(list, k, "max_link_speed");
		const double width = number_of(list, k, "current_link_width"),
		             widest = number_of(list, k, "max_link_width");
		const json_t *address = json_object_get(json_array_get(list, k), "address");

		if (speed <= 0 || width <= 0 || (speed >= fastest && width >= widest))
			continue;
		scope_find(
		    f,
		    "The link of the GPU at %s is trained down: %.4g GT/s x%.0f of %.4g GT/s x%.0f%s. Its "
		    "bandwidth is %.0f %% of what the device could have. See the slot's wiring, the BIOS's "
		    "setting of the link and the riser; reseat the card.",
		    json_is_string(address) ? json_string_value(address) : "?", speed, width, fastest, widest,
		    list == busy ? ", read under load"
		                 : " (read at rest: some links save power then, measure with a GPU row)",
		    100 * speed * width / (fastest * widest));
	}
}

static void find_no_peer(struct scope_finding *f)
{
	const json_t *gpus = scope_read_context(f->r, "gpus");
	struct scope_names names = {"", 0};
	char pair[48];

	for (size_t a = 0; a < json_array_size(gpus); a++)
		for (size_t b = 0; b < json_array_size(gpus); b++) {
			const json_t *peer =
			    json_array_get(json_object_get(json_array_get(gpus, a), "peer"), b);

			if (a == b || !json_is_false(peer))
				continue;
			snprintf(pair, sizeof pair, "%zu to %zu", a, b);
			scope_names_add(&names, pair);
		}
	if (names.count)
		scope_find(f,
		           "No peer access between GPUs: %s. Copies between them go through host memory at "
		           "half the link's rate or less, and kernels cannot reach the other's memory. "
		           "Access control of the PCIe switch (ACS), a virtual machine or different root "
		           "complexes prevent it; nvidia-smi topo -p2p r says which.",
		           scope_names_end(&names));
}

static void find_unsteady_clocks(struct scope_finding *f)
{
	const char *governor = scope_read_text(f->r, "cpu.governor", "");

	if (governor[0] && strcmp(governor, "performance"))
		scope_find(f,
		           "The processor's governor is %.40s: its clock follows the load, and short samples "
		           "see the slow end. For figures that are to be compared set it to performance "
		           "(grapnel scope never does).",
		           governor);
}

static void find_busy(struct scope_finding *f)
{
	const json_t *load = json_array_get(scope_read_context(f->r, "load_avg"), 0);
	const double cpus = scope_read_number(f->r, "num_cpus", 0),
	             share = scope_read_number(f->r, "others_share", -1);

	if (share > 0.1)
		scope_find(
		    f,
		    "Others were at work: they used %.0f %% of all processors during the run. Rows of the "
		    "host are too low by what they took, and will not repeat; measure on a quiet machine.",
		    100 * share);
	else if (share < 0 && json_is_number(load) && cpus > 0 && json_number_value(load) > 0.5 * cpus)
		scope_find(f,
		           "Others were at work: a load of %.1f on %.0f processors when the run began. Rows "
		           "of the host are too low by what they took; measure on a quiet machine.",
		           json_number_value(load), cpus);
}

static void find_guest(struct scope_finding *f)
{
	if (json_is_true(scope_read_context(f->r, "virtual_machine.guest")))
		scope_find(f,
		           "This is a virtual machine%s%.60s: nodes, links and caches may not be what they "
		           "are said to be, and the host's other guests share memory and links. Compare only "
		           "with runs of the same kind of guest.",
		           *scope_read_text(f->r, "virtual_machine.product", "") ? ", " : "",
		           scope_read_text(f->r, "virtual_machine.product", ""));
}

void scope_find_in_links(struct scope_finding *f)
{
	find_trained_down(f);
	find_no_peer(f);
}

void scope_find_in_environment(struct scope_finding *f)
{
	find_unsteady_clocks(f);
	find_busy(f);
	find_guest(f);
}
