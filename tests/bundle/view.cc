// SPDX-License-Identifier: Apache-2.0
// gn::array: its promises at compile time, and elements read and written by a kernel. cpu, or argv[1].
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include <grapnel/grapnel.hpp>

struct pair {
	float weight;
	uint32_t vertex;
};

static_assert(std::is_trivial<gn::array<float>>::value, "plain data, fit for kernel arguments");
static_assert(std::is_standard_layout<gn::array<pair>>::value, "plain data, fit for kernel arguments");
static_assert(sizeof(gn::array<double>) == sizeof(struct gn_array), "no state of its own");
static_assert(std::is_same<decltype(std::declval<const gn::array<int> &>()[0]), int>::value,
	      "a const array gives values: nothing to write through");
static_assert(std::is_same<decltype(std::declval<gn::array<int> &>()[0]), gn::element<int>>::value,
	      "a non-const array gives elements");

enum { COUNT = 20000 };

struct arguments {
	gn::array<pair> x;
	gn::array<uint64_t> y;
	uint32_t *wrong;
};

SIMT_FN void fill(const struct arguments *a)
{
	gn::array<pair> x = a->x;
	gn::array<uint64_t> y = a->y;

	for (uint64_t i = simt_global_thread(); i < x.size(); i += simt_global_threads()) {
		x[i] = pair{(float)i / 2, (uint32_t)(i * 7)};
		y[i] = i * i;
		y[i] += 3;
	}
}
SIMT_KERNEL(fill, struct arguments)

SIMT_FN void check(const struct arguments *a)
{
	for (uint64_t i = simt_global_thread(); i < a->x.size(); i += simt_global_threads()) {
		const pair p = a->x[i];
		uint64_t y = 0;

		if (p.weight != (float)i / 2 || p.vertex != (uint32_t)(i * 7) || a->y.read(i, &y) || y != i * i + 3)
			simt_add_relaxed_dev_u32(a->wrong, 1);
	}
}
SIMT_KERNEL(check, struct arguments)

// Elements taken for ones of another size: nothing is read or written.
SIMT_FN void mistake(const struct arguments *a)
{
	gn::array<uint16_t> narrow(*a->y.raw());
	uint16_t value = 7;

	narrow[0] = 1;
	narrow[1] += 1;
	if (narrow.read(1, &value) != -GN_EINVAL || value != 7 || narrow[1] || narrow.write(COUNT - 1, 1) != -GN_EINVAL)
		simt_add_relaxed_dev_u32(a->wrong, 1);
}
SIMT_KERNEL(mistake, struct arguments)

static void must(int ok, const char *what, const char *why)
{
	if (ok)
		return;
	std::fprintf(stderr, "view: %s: %s\n", what, why);
	std::exit(1);
}

static gn::array<uint64_t> words(struct simt_machine *m, struct gn_cache *cache, struct gn_store *store, uint64_t offset)
{
	struct gn_array_config config = {GN_PAGED, cache, store, offset, COUNT, 8};
	struct gn_array raw;
	struct gn_error e;

	must(!gn_array_create(&raw, m, &config, &e), "array", e.text);
	return gn::array<uint64_t>(raw);
}

static uint64_t dirty_pages(struct gn_cache *cache)
{
	struct gn_cache_facts facts;

	must(!gn_cache_describe(cache, &facts), "describe", "failed");
	return facts.dirty_pages;
}

int main(int argc, char **argv)
{
	struct simt_config config = {};
	struct gn_cache_options options = {};
	struct simt_machine *m;
	struct gn_store *store;
	struct gn_cache *cache;
	struct arguments a;
	struct simt_grid grid = {4, 64, 0};
	struct gn_error e;
	int code;

	config.name = argc > 1 ? argv[1] : "cpu";
	code = simt_open(&m, &config, &e);
	if (code == -GN_ENODEV) {
		std::printf("skipped: %s\n", e.text);
		return 77;
	}
	must(!code, "machine", e.text);
	must(!gn_store_open(&store, m, "host:512K", nullptr, &e), "store", e.text);
	options.bytes = 64 << 10; // far less than the elements: the kernels evict
	must(!gn_cache_create(&cache, m, &store, 1, &options, &e), "cache", e.text);
	a.y = words(m, cache, store, 0);
	a.x = gn::array<pair>(*words(m, cache, store, 256 << 10).raw());
	must(a.x.fits() && a.y.fits() && !gn::array<float>(*a.x.raw()).fits(), "fits", "wrong size told");
	a.wrong = (uint32_t *)simt_alloc(m, sizeof *a.wrong, SIMT_SHARED);
	must(!simt_launch(m, &fill_kernel, grid, &a) && !simt_wait(m), "fill", simt_message(m));
	must(!gn_array_failure(a.x.raw(), &e) && !gn_array_failure(a.y.raw(), &e), "fill", e.text);
	must(!gn_cache_flush(cache, &e), "flush", e.text);
	must(!simt_launch(m, &mistake_kernel, grid, &a) && !simt_wait(m), "mistake", simt_message(m));
	must(gn_array_failure(a.y.raw(), &e) == -GN_EINVAL && !*a.wrong, "mistake", "another size is not refused");
	must(!simt_launch(m, &check_kernel, grid, &a) && !simt_wait(m), "check", simt_message(m));
	must(!*a.wrong, "check", "an element is not what was written");
	must(!dirty_pages(cache), "const", "reading made a page dirty");
	simt_free(m, a.wrong);
	gn_array_destroy(a.x.raw(), m);
	gn_array_destroy(a.y.raw(), m);
	gn_cache_destroy(cache);
	gn_store_close(store);
	simt_close(m);
	return 0;
}
