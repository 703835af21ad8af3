/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.c - teams: each is a team of net, with a group of its own.
 *
 * All PEs have the same MOST_TEAMS groups in the heap. The PEs of a team use the group with the same number.
 * Its number is the lowest that is free on all of them. All PEs of the parent agree on it. Teams that have no
 * PE in common may have the same number, because a group is used by the messages of its team's PEs alone.
 */
#include <shmem/team.h>

SHMEM__NAMES_TEAM

struct shmem__team shmem__team_world, shmem__team_shared;

static struct {
	struct gn_net_group *group; /* [GN_SHMEM_MOST_TEAMS] */
	uint64_t free;              /* a bit for each of them; one thread may split while others destroy */
	struct shmem__team team[GN_SHMEM_MOST_TEAMS];
} teams;

/* ---- the predefined teams ---- */

/* Do all PEs reach the heaps of all others? */
static int begin_shared(const struct gn_net_view *n)
{
	uint64_t reached = 1;
	int rc;

	for (uint32_t pe = 0; pe < n->nodes; pe++)
		reached &= pe == n->node || (n->mapped && n->mapped[pe]);
	rc = gn_net_reduce_u64(n, GN_AND, &reached, 1);
	shmem__team_shared.net = gn_net_team_world(n);
	if (!reached) {
		shmem__team_shared.net.first = n->node;
		shmem__team_shared.net.nodes = 1;
	}
	shmem__team_shared.net.group = &teams.group[0];
	return rc;
}

int gn_shmem_teams_begin(struct gn_net *net)
{
	const struct gn_net_view *n = gn_net_host(net);

	teams.group = (struct gn_net_group *)gn_net_alloc(net, GN_SHMEM_TEAMS_BYTES, NULL);
	if (!teams.group)
		return -GN_ENOMEM;
	teams.free = ~1ull; /* the first is of SHMEM_TEAM_SHARED */
	shmem__team_world.net = gn_net_team_world(n);
	return begin_shared(n);
}

/* ---- queries ---- */

/* The rank of a node in a team, or -1. */
static int rank_of(const struct gn_net_team *t, uint32_t node)
{
	const uint32_t rank = (node - t->first) / t->stride;

	return node >= t->first && (node - t->first) % t->stride == 0 && rank < t->nodes ? (int)rank : -1;
}

int shmem_team_my_pe(shmem_team_t team)
{
	return team == SHMEM_TEAM_INVALID ? -1 : rank_of(&team->net, gn_shmem.view->node);
}

int shmem_team_n_pes(shmem_team_t team)
{
	return team == SHMEM_TEAM_INVALID ? -1 : (int)team->net.nodes;
}

int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
	if (team == SHMEM_TEAM_INVALID)
		return -GN_EINVAL;
	if (config_mask & SHMEM_TEAM_NUM_CONTEXTS)
		config->num_contexts = team->contexts;
	return 0;
}

int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
	if (src_team == SHMEM_TEAM_INVALID || dest_team == SHMEM_TEAM_INVALID || src_pe < 0 ||
	    (uint32_t)src_pe >= src_team->net.nodes)
		return -1;
	return rank_of(&dest_team->net, gn_net_team_node(&src_team->net, (uint32_t)src_pe));
}

/* ---- splitting ---- */

/* Every stride-th PE of a parent, as ranks of the parent. */
struct part {
	uint32_t start, stride, size;
};

static struct gn_net_team net_of(shmem_team_t parent, struct part p)
{
	struct gn_net_team net;

	net.first = gn_net_team_node(&parent->net, p.start);
	net.stride = parent->net.stride * (p.size > 1 ? p.stride : 1);
	net.nodes = p.size;
	net.group = NULL;
	return net;
}

static int is_member(const struct gn_net_team *net)
{
	return rank_of(net, gn_shmem.view->node) >= 0;
}

/*
 * The groups that are free on all PEs of a parent that will be members of the new teams. Returns 0 or why the
 * PEs could not agree. All PEs of the parent get the same groups.
 */
static int agree(shmem_team_t parent, int member, uint64_t *free)
{
	*free = member ? simt_load_acquire_dev_u64(&teams.free) : ~0ull;
	return gn_net_team_reduce_u64(gn_shmem.view, &parent->net, GN_AND, free, 1);
}

static uint32_t lowest(uint64_t bits)
{
	uint32_t k = 0;

	while (!(bits >> k & 1))
		k++;
	return k;
}

/* The team with the lowest of the free groups, or SHMEM_TEAM_INVALID: this PE is not of it. */
static shmem_team_t make(const struct gn_net_team *net, uint64_t free, const shmem_team_config_t *config,
                         long mask)
{
	const uint32_t place = lowest(free);
	struct shmem__team *t = &teams.team[place];

	if (!is_member(net))
		return SHMEM_TEAM_INVALID;
	t->net = *net;
	t->net.group = &teams.group[place];
	t->contexts = mask & SHMEM_TEAM_NUM_CONTEXTS ? config->num_contexts : 0;
	simt_and_acq_rel_dev_u64(&teams.free, ~(1ull << place));
	return t;
}

/* Is the part in a team of `pes` PEs? */
static int is_part(int start, int stride, int size, int pes)
{
	if (start < 0 || start >= pes || size < 1)
		return 0;
	return size == 1 || (stride > 0 && (long)start + (long)stride * (size - 1) < pes);
}

int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                             const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)
{
	struct gn_net_team net;
	struct part p;
	uint64_t free;
	int rc;

	*new_team = SHMEM_TEAM_INVALID;
	if (parent_team == SHMEM_TEAM_INVALID ||
	    !is_part(start, stride, size, pshmem_team_n_pes(parent_team)))
		return -GN_EINVAL;
	p.start = (uint32_t)start;
	p.stride = (uint32_t)stride;
	p.size = (uint32_t)size;
	net = net_of(parent_team, p);
	rc = agree(parent_team, is_member(&net), &free);
	if (rc || !free)
		return rc ? rc : -GN_ENOBUFS;
	*new_team = make(&net, free, config, config_mask);
	return 0;
}

int shmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config,
                        long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
                        long yaxis_mask, shmem_team_t *yaxis_team)
{
	const uint32_t pes = (uint32_t)pshmem_team_n_pes(parent_team),
	               me = (uint32_t)pshmem_team_my_pe(parent_team);
	const uint32_t width = (uint32_t)xrange < pes ? (uint32_t)xrange : pes;
	struct gn_net_team net;
	struct part x, y;
	uint64_t free;
	int rc;

	*xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
	if (parent_team == SHMEM_TEAM_INVALID || xrange < 1)
		return -GN_EINVAL;
	rc = agree(parent_team, 1, &free);
	if (rc || !(free & (free - 1)))
		return rc ? rc : -GN_ENOBUFS; /* one is not enough */
	x.start = me / width * width;
	x.stride = 1;
	x.size = pes - x.start < width ? pes - x.start : width;
	y.start = me % width;
	y.stride = width;
	y.size = (pes - y.start + width - 1) / width;
	net = net_of(parent_team, x);
	*xaxis_team = make(&net, free, xaxis_config, xaxis_mask);
	net = net_of(parent_team, y);
	*yaxis_team = make(&net, free & (free - 1), yaxis_config, yaxis_mask);
	return 0;
}

void shmem_team_destroy(shmem_team_t team)
{
	if (team == SHMEM_TEAM_INVALID)
		return;
	if (team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED)
		gn_shmem_fail("shmem_team_destroy: a predefined team stays", -GN_EINVAL, pshmem_my_pe());
	gn_shmem_ctx_destroy_of(team);
	gn_shmem_check("shmem_team_destroy", gn_net_team_sync(gn_shmem.view, &team->net), pshmem_my_pe());
	simt_or_acq_rel_dev_u64(&teams.free, 1ull << (team - teams.team));
}

int shmem_team_sync(shmem_team_t team)
{
	gn_net_fence(gn_shmem.view);
	return team == SHMEM_TEAM_INVALID ? -GN_EINVAL : gn_net_team_sync(gn_shmem.view, &team->net);
}
