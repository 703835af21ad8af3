/* SPDX-License-Identifier: Apache-2.0 */
#include <net/node.h>
#include <net/resident.h>

#include <simt/machine.h>

int gn__resident_open(struct gn_resident *r, const struct gn_net *net, struct gn_error *error)
{
	struct simt_options options = net->options.machine;
	struct simt_info info;
	int rc = 0;

	simt_describe(net->machine, &info);
	options.threads = 1;
	r->machine = net->machine;
	if (!info.is_cuda) {
		rc = simt_open(&r->own, &options, error);
		r->machine = r->own;
	}
	return rc ? rc : simt_stream_create(&r->stream, r->machine, error);
}

void gn__resident_close(struct gn_resident *r)
{
	simt_stream_destroy(r->stream);
	simt_close(r->own);
}

int gn__resident_start(struct gn_resident *r, struct gn_net *net, const struct simt_kernel *kernel,
                       struct simt_grid grid, const void *args)
{
	struct gn_error error;
	int rc;

	simt__reside(r->machine, 1);
	rc = simt_launch_on(r->stream, kernel, grid, args, &error);
	r->started = !rc;
	if (!rc)
		return 0;
	simt__reside(r->machine, -1);
	gn_error_prefix(&error, rc, "the network kernel of node %u cannot start", net->route.node);
	return gn__network_fail(net, net->route.node, &error);
}

void gn__resident_wait(struct gn_resident *r, struct gn_net *net)
{
	struct gn_error error;
	const int rc = simt_stream_wait(r->stream, &error);

	simt__reside(r->machine, -1);
	r->started = 0;
	if (!rc)
		return;
	gn_error_prefix(&error, rc, "the network kernel of node %u failed", net->route.node);
	gn__network_fail(net, net->route.node, &error);
}
