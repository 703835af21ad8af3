/* SPDX-License-Identifier: Apache-2.0 */
/*
 * km - k-means (Hetero-Mark). One kernel turns the features round (swapped[f][point] = feature[point][f]);
 * then each iteration finds the nearest cluster of every point, and the host moves the clusters to the middle
 * of their points.
 *
 * From the source: grid, placement, accesses. Each swapped value is loaded once a cluster, and clusters by
 * scalar loads: so say the measured lines (2688 read a wavefront). Fitted to 3809 instructions a wavefront
 * for both kernels: 22 + 32 * 16 and 30 + 5 * (9 + 32 * 20).
 */
#include <sim/workloads/support.h>

#include <string.h>

enum { GROUP = 64, MOST_CLUSTERS = 64 };

struct km {
	uint32_t points, features, clusters, iterations;
	uint32_t launches;
	struct sim_buffer feature, swapped, membership, cluster;
	float *sum; /* of the points of each cluster */
	uint32_t *size;
	struct gn_error wrong; /* the first iteration whose result is not the reference's */
};

static void swap(struct sim_wave *w, const void *arguments)
{
	const struct km *k = (const struct km *)arguments;
	uint32_t point[SIM_LANES], from[SIM_LANES], to[SIM_LANES];
	float value[SIM_LANES] = {0};
	const uint64_t lanes = sim_items(w, point, k->points);

	sim_salu(w, 9);
	sim_valu(w, 12);
	for (uint32_t f = 0; f < k->features; f++) {
		for (uint32_t l = 0; l < SIM_LANES; l++) {
			from[l] = point[l] * k->features + f;
			to[l] = f * k->points + point[l];
		}
		sim_valu(w, 5);
		sim_load_f32(w, lanes, &k->feature, from, value);
		sim_valu(w, 5);
		sim_wait(w, 0);
		sim_store_f32(w, lanes, &k->swapped, to, value);
		sim_salu(w, 3);
	}
}

static float scalar_f32(struct sim_wave *w, const struct sim_buffer *b, uint32_t index)
{
	const uint32_t bits = sim_scalar_u32(w, b, index);
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static void distances(struct sim_wave *w, const struct km *k, uint64_t lanes, const uint32_t *point,
                      uint32_t c, float *distance)
{
	uint32_t at[SIM_LANES];
	float value[SIM_LANES] = {0};

	memset(distance, 0, SIM_LANES * sizeof *distance);
	for (uint32_t f = 0; f < k->features; f++) {
		float centre;

		for (uint32_t l = 0; l < SIM_LANES; l++)
			at[l] = f * k->points + point[l];
		sim_valu(w, 6);
		sim_load_f32(w, lanes, &k->swapped, at, value);
		sim_salu(w, 4);
		centre = scalar_f32(w, &k->cluster, c * k->features + f);
		sim_wait(w, 0);
		sim_salu(w, 1);
		sim_valu(w, 3);
		sim_salu(w, 3);
		for (uint32_t l = 0; l < SIM_LANES; l++)
			distance[l] += (value[l] - centre) * (value[l] - centre);
	}
}

static void compute(struct sim_wave *w, const void *arguments)
{
	const struct km *k = (const struct km *)arguments;
	uint32_t point[SIM_LANES], nearest[SIM_LANES] = {0};
	float distance[SIM_LANES], least[SIM_LANES];
	const uint64_t lanes = sim_items(w, point, k->points);

	sim_salu(w, 12);
	sim_valu(w, 11);
	for (uint32_t c = 0; c < k->clusters; c++) {
		distances(w, k, lanes, point, c, distance);
		for (uint32_t l = 0; l < SIM_LANES; l++) {
			nearest[l] = !c || distance[l] < least[l] ? c : nearest[l];
			least[l] = !c || distance[l] < least[l] ? distance[l] : least[l];
		}
		sim_valu(w, 4);
		sim_salu(w, 5);
	}
	sim_valu(w, 5);
	sim_store_u32(w, lanes, &k->membership, point, nearest);
}

/* ---- the host ---- */

static float distance_of(const struct km *k, uint32_t p, uint32_t c)
{
	const float *feature = (const float *)k->feature.host + (size_t)p * k->features;
	const float *cluster = (const float *)k->cluster.host + (size_t)c * k->features;
	float sum = 0;

	for (uint32_t f = 0; f < k->features; f++)
		sum += (feature[f] - cluster[f]) * (feature[f] - cluster[f]);
	return sum;
}

/* Whichever of two clusters that are equally near a point belongs to is right. */
static int check_point(const struct km *k, uint32_t p, struct gn_error *error)
{
	const uint32_t got = ((const uint32_t *)k->membership.host)[p];
	float least = distance_of(k, p, 0), mine;

	if (got >= k->clusters)
		return gn_error_set(error, -GN_EBADMSG, "km: point %u belongs to cluster %u of %u", p, got,
		                    k->clusters);
	for (uint32_t c = 1; c < k->clusters; c++) {
		const float d = distance_of(k, p, c);

		least = d < least ? d : least;
	}
	mine = distance_of(k, p, got);
	return mine <= least * 1.0001f
	           ? 0
	           : gn_error_set(error, -GN_EBADMSG,
	                          "km: point %u is %.9g from its cluster %u, but %.9g from another cluster",
	                          p, (double)mine, got, (double)least);
}

static int check_iteration(const struct km *k, struct gn_error *error)
{
	int rc = 0;

	for (uint32_t p = 0; p < k->points && !rc; p++)
		rc = check_point(k, p, error);
	return rc;
}

static void move_clusters(struct km *k)
{
	const float *feature = (const float *)k->feature.host;
	const uint32_t *membership = (const uint32_t *)k->membership.host;
	float *cluster = (float *)k->cluster.host;

	memset(k->sum, 0, sizeof(float) * k->clusters * k->features);
	memset(k->size, 0, sizeof *k->size * k->clusters);
	for (uint32_t p = 0; p < k->points; p++) {
		k->size[membership[p]]++;
		for (uint32_t f = 0; f < k->features; f++)
			k->sum[membership[p] * k->features + f] += feature[(size_t)p * k->features + f];
	}
	for (uint32_t c = 0; c < k->clusters; c++)
		for (uint32_t f = 0; f < k->features && k->size[c]; f++)
			cluster[c * k->features + f] = k->sum[c * k->features + f] / (float)k->size[c];
}

static int next(void *state, struct sim_launch *launch)
{
	struct km *k = (struct km *)state;
	const uint32_t number = k->launches;

	if (number > k->iterations)
		return 0;
	if (number > 1) { /* an iteration is over */
		if (!k->wrong.code && check_iteration(k, &k->wrong))
			return 0; /* membership is of no use */
		move_clusters(k);
	}
	sim_launch_row(launch, number ? "km compute" : "km swap", number ? compute : swap, k, k->points,
	               GROUP);
	launch->independent = 1;
	k->launches++;
	return 1;
}

static int check_swapped(const struct km *k, struct gn_error *error)
{
	int rc = 0;

	for (uint32_t f = 0; f < k->features && !rc; f++)
		for (uint32_t p = 0; p < k->points && !rc; p++)
			rc = sim_same_f32(
			    "km: swapped", (const float *)k->swapped.host + (size_t)f * k->points + p,
			    (const float *)k->feature.host + (size_t)p * k->features + f, 1, 0, error);
	return rc;
}

static int check(void *state, struct gn_error *error)
{
	const struct km *k = (const struct km *)state;

	if (k->wrong.code)
		return gn_error_set(error, k->wrong.code, "%s", k->wrong.text);
	return check_swapped(k, error) || check_iteration(k, error) ? -GN_EBADMSG : 0;
}

static void destroy(void *state)
{
	struct km *k = (struct km *)state;

	if (k) {
		free(k->sum);
		free(k->size);
	}
	free(k);
}

static int buffers(struct km *k, struct sim_memory *memory, struct gn_error *error)
{
	const uint64_t bytes = 4ull * k->points * k->features;
	const struct sim_wanted wanted[] = {{&k->feature, bytes, SIM_DISTRIBUTED},
	                                    {&k->swapped, bytes, SIM_DISTRIBUTED},
	                                    {&k->membership, 4ull * k->points, SIM_DISTRIBUTED},
	                                    {&k->cluster, 4ull * k->clusters * k->features, SIM_INTERLEAVED}};

	k->sum = (float *)sim_state(sizeof(float) * k->clusters * k->features, "km", error);
	k->size = (uint32_t *)sim_state(sizeof *k->size * k->clusters, "km", error);
	return k->sum && k->size ? sim_buffers(memory, "km", wanted, 4, error) : -GN_ENOMEM;
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"points", 4096, 1, 1 << 24, 1},
	                          {"iterations", 1, 1, 1000, 1},
	                          {"clusters", 5, 1, MOST_CLUSTERS, 1},
	                          {"features", 32, 1, 128, 1}};
	uint64_t random = request->seed;
	struct km *k;

	if (sim_sizes_read(request->size, "km", size, 4, error))
		return -GN_EINVAL;
	k = (struct km *)sim_state(sizeof *k, "km", error);
	*state = k;
	if (!k)
		return -GN_ENOMEM;
	k->points = (uint32_t)size[0].value;
	k->iterations = (uint32_t)size[1].value;
	k->clusters = (uint32_t)size[2].value;
	k->features = (uint32_t)size[3].value;
	if (buffers(k, memory, error))
		return -GN_ENOMEM;
	sim_random_fill(&random, (float *)k->feature.host, (uint64_t)k->points * k->features);
	sim_random_fill(&random, (float *)k->cluster.host, (uint64_t)k->clusters * k->features);
	return 0;
}

const struct sim_workload sim__km = {"km",
                                     "k-means (Hetero-Mark): its matrix lies across the GPUs",
                                     "points, iterations, clusters, features: 4096, 1, 5, 32",
                                     create,
                                     next,
                                     check,
                                     destroy};
