/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 09_slots.c - how do I keep the experts of a model that does not fit the device's memory?
 *
 *     cc -O2 09_slots.c $(pkg-config --cflags --libs grapnel) -o 09 && ./09 [cpu|cuda]
 *
 * 64 experts of 48 KiB lie in host memory; the device has slots for 16. Each step of the model names 8
 * experts, some of them again and again. They get slots, the missing ones are copied, and a kernel uses them
 * by slot: here it adds up their numbers. On a GPU the three launches of a step can be captured in a graph.
 *
 * The counts differ a little from run to run: the warps of a kernel choose the slots side by side.
 *
 * Expected output:
 *     20 steps of 8 experts, the sum of the last step is right
 *     ... found resident, ... fetched, ... evicted
 */
#include <stdio.h>
#include <stdlib.h>

#include <grapnel/grapnel.h>

enum { EXPERTS = 64, NUMBERS = 6144, SLOTS = 16, STEPS = 20, EACH = 8 };

/* What host and kernels share, in pinned memory: the experts of a step. */
struct step {
	int64_t key[EACH];
	int32_t slot[EACH];
	uint64_t sum;
};

struct use_args {
	const uint64_t *slab; /* [SLOTS][NUMBERS] */
	struct step *step;
};

/* A block for each expert. */
SIMT_FN void use_experts(const struct use_args *a)
{
	const int32_t slot = a->step->slot[simt_block()];
	uint64_t mine = 0;

	for (uint32_t k = simt_thread(); k < NUMBERS && slot >= 0; k += simt_block_threads())
		mine += a->slab[slot * NUMBERS + k];
	simt_add_relaxed_sys_u64(&a->step->sum, mine);
}
SIMT_KERNEL(use_experts, struct use_args)

static struct gn_error error;

static void must(int code)
{
	if (!code)
		return;
	fprintf(stderr, "09_slots: %s: %s\n", gn_error_name(code), error.text);
	exit(1);
}

/* Expert e is the numbers e, e, e, ... */
static void fill(struct gn_store *store)
{
	for (uint64_t k = 0; k < (uint64_t)EXPERTS * NUMBERS; k++) {
		const uint64_t expert = k / NUMBERS;

		must(gn_store_write_host(store, k * 8, &expert, 8, &error));
	}
}

/* Take a step. Every second expert is one of a few popular ones. Returns the sum of their numbers. */
static uint64_t take_step(struct gn_data *model, struct gn_slots *slots, const struct use_args *use,
                          int number)
{
	struct step *s = use->step;
	const struct gn_slots_batch batch = {s->key, s->slot, NULL, EACH, 0, 0};
	const struct simt_grid grid = {EACH, 64, 0};
	uint64_t sum = s->sum = 0;

	for (int k = 0; k < EACH; k++) {
		s->key[k] = k % 2 ? (number + k) % 6 : 6 + (number * 17 + k * 13) % (EXPERTS - 6);
		sum += (uint64_t)s->key[k] * NUMBERS;
	}
	must(gn_slots_resolve(slots, &batch, NULL, &error));
	must(gn_slots_fill(slots, NULL, &error));
	must(gn_launch(model, &use_experts_kernel, grid, use, &error)); /* waits for all three */
	must(gn_slots_failure(slots, &error));
	return sum;
}

int main(int argc, char **argv)
{
	struct gn_options data = {0};
	struct gn_slots_options options = {0};
	struct gn_slots_statistics s;
	struct gn_slots_info info;
	struct gn_slots *slots;
	struct gn_data model;
	struct use_args use;
	uint64_t sum = 0;

	data.machine = argc > 1 ? argv[1] : "cpu";
	data.mode = GN_DIRECT; /* slots need the machine and the store alone */
	data.element_bytes = sizeof(uint64_t);
	must(gn_open(&model, "host:3M", &data, &error));
	fill(model.store);
	options.item_bytes = NUMBERS * sizeof(uint64_t);
	options.slots = SLOTS;
	must(gn_slots_create(&slots, model.machine, model.store, &options, &error));
	gn_slots_describe(slots, &info);
	use.slab = (const uint64_t *)info.slab;
	use.step = (struct step *)simt_alloc(model.machine, sizeof *use.step, SIMT_PINNED, &error);
	must(use.step ? 0 : error.code);
	for (int number = 0; number < STEPS; number++)
		sum = take_step(&model, slots, &use, number);
	must(gn_slots_get_statistics(slots, NULL, &s, &error));
	printf("%d steps of %d experts, the sum of the last step is %s\n", STEPS, EACH,
	       sum == use.step->sum ? "right" : "wrong");
	printf("%d found resident, %d fetched, %d evicted\n", (int)s.hits, (int)s.fetched, (int)s.evicted);
	simt_free(model.machine, use.step);
	gn_slots_destroy(slots);
	must(gn_close(&model, &error));
	return 0;
}
