/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/overhead.h>

static void add(struct sim_overhead *o, uint64_t units, double area_um2, double power_mw)
{
	o->area_um2 += (double)units * area_um2;
	o->power_mw += (double)units * power_mw;
}

/* Table 4. 1 mW for 1 ns is 1 pJ. */
struct sim_overhead sim_overhead_of(const struct sim_config *c, uint64_t cycles)
{
	const uint64_t cus = c->shader_engines * c->cus_per_engine;
	struct sim_overhead o = {0, 0, 0};

	add(&o, c->fine ? cus : 0, 964.99, 0.43);   /* BGU */
	add(&o, c->bypass ? cus : 0, 202.94, 0.27); /* SCBU */
	add(&o, c->mshr_masks ? cus : 0, 697, 0.1); /* MSHR */
	add(&o, c->coalesce ? 1 : 0, 37234, 31.9);  /* CODEC */
	o.energy_uj = o.power_mw * (double)c->gpus * (double)cycles * 1e-6;
	return o;
}
