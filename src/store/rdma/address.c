/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/address.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(const char *path, const char *what, struct gn_error *error)
{
	return gn_error_set(
	    error, -GN_EINVAL,
	    "rdma:%s: %s; write rdma://HOST/NAME or rdma://HOST:PORT/NAME, an IPv6 address in "
	    "brackets: rdma://[fe80::1%%25eth0]/NAME",
	    path, what);
}

/* Copy [from, end). Returns 0, or -1 if it is empty or does not fit. */
static int copy(char *to, size_t size, const char *from, const char *end)
{
	const size_t bytes = (size_t)(end - from);

	if (from >= end || bytes >= size)
		return -1;
	memcpy(to, from, bytes);
	to[bytes] = '\0';
	return 0;
}

/* The end of the host that begins here, and in *host where it begins behind a bracket. */
static const char *host_end(const char **host, const char *slash)
{
	const char *end;

	if (**host == '[') {
		end = (const char *)memchr(*host, ']', (size_t)(slash - *host));
		++*host;
		return end;
	}
	end = (const char *)memchr(*host, ':', (size_t)(slash - *host));
	return end ? end : slash;
}

static int valid_port(const char *port)
{
	return strspn(port, "0123456789") == strlen(port) && atoi(port) > 0 && atoi(port) < 65536;
}

int gn_rdma_address_parse(struct gn_rdma_address *address, const char *path, struct gn_error *error)
{
	const char *host = path + 2, *slash, *end, *rest;

	memset(address, 0, sizeof *address);
	slash = strncmp(path, "//", 2) ? NULL : strchr(host, '/');
	if (!slash)
		return refuse(path, "this names no host and no region", error);
	end = host_end(&host, slash);
	if (!end || copy(address->host, sizeof address->host, host, end))
		return refuse(path, "this names no host", error);
	rest = *end == ']' ? end + 1 : end;
	snprintf(address->port, sizeof address->port, "%d", (int)GN_RDMA_PORT);
	if (rest != slash && (*rest != ':' || copy(address->port, sizeof address->port, rest + 1, slash) ||
	                      !valid_port(address->port)))
		return refuse(path, "the port must be a number from 1 to 65535", error);
	if (copy(address->name, sizeof address->name, slash + 1, slash + 1 + strlen(slash + 1)) ||
	    !gn_hello_is_name(address->name))
		return refuse(path, "the region's name must have 1 to 32 letters, digits, '.', '-' or '_'",
		              error);
	return 0;
}
