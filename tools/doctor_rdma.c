/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this machine reaches memory of others by RDMA, and what is missing for that. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <store/rdma/server.h>

#include "doctor.h"

#define BUFFERS ((uint64_t)128 << 20) /* that a store may register */

/* The first line of a file, without its end. Returns whether it could be read. */
static bool read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	bool got = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got;
}

static bool is_active(const char *device)
{
	char path[320], state[32];

	snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/1/state", device);
	return read_line(path, state, sizeof state) && strstr(state, "ACTIVE");
}

/* The names of the devices, and of one that has no active port. Returns how many are active. */
static unsigned list_devices(char *names, size_t size, char *idle, size_t idle_size)
{
	struct dirent **entry = NULL;
	int count = scandir("/sys/class/infiniband", &entry, NULL, alphasort);
	unsigned active = 0;
	size_t used = 0;

	for (int k = 0; k < count; k++) {
		const char *name = entry[k]->d_name;

		if (name[0] != '.' && !is_active(name))
			snprintf(idle, idle_size, "%.63s", name);
		else if (name[0] != '.' && used < size) {
			used += (size_t)snprintf(names + used, size - used, "%s%s", active ? ", " : "", name);
			active++;
		}
		free(entry[k]);
	}
	free(entry);
	return active;
}

/* A network interface that could carry a device in software. */
static void find_interface(char *name, size_t size)
{
	DIR *folder = opendir("/sys/class/net");
	const struct dirent *entry;
	char path[320], state[16];

	snprintf(name, size, "INTERFACE");
	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof path, "/sys/class/net/%s/operstate", entry->d_name);
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "lo") ||
		    !read_line(path, state, sizeof state) || strcmp(state, "up") != 0)
			continue;
		snprintf(name, size, "%.63s", entry->d_name);
		break;
	}
	if (folder)
		closedir(folder);
}

static void say_no_device(struct doctor_try *t, const char *idle)
{
	char interface[64];

	if (idle[0]) {
		doctor_say(
		    t, false,
		    "%s has no active port; 'rdma link' shows its network interface: as root run ip link "
		    "set INTERFACE up",
		    idle);
		return;
	}
	find_interface(interface, sizeof interface);
	doctor_say(
	    t, false,
	    "there is no RDMA device; for one in software run as root modprobe rdma_rxe && rdma link add "
	    "rxe0 type rxe netdev %s",
	    interface);
}

static void say_devices(struct doctor_try *t, const char *names)
{
	struct rlimit limit = {0, 0};

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (geteuid() && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < BUFFERS)
		doctor_say(t, true, "%s; a store with many queues needs a higher ulimit -l, at most 128 MiB",
		           names);
	else
		doctor_say(t, true, "%s", names);
}

void doctor_probe_rdma(struct doctor_try *t)
{
	char names[120] = "", idle[64] = "";

	if (!gn_rdma_is_built)
		doctor_say(
		    t, false,
		    "this program was built without RDMA; install the package librdmacm-dev and build it "
		    "again");
	else if (!list_devices(names, sizeof names, idle, sizeof idle))
		say_no_device(t, idle);
	else if (access("/dev/infiniband/rdma_cm", F_OK))
		doctor_say(t, false, "the connection manager is not loaded; as root run modprobe rdma_ucm");
	else if (access("/dev/infiniband/rdma_cm", R_OK | W_OK))
		doctor_say(t, false,
		           "/dev/infiniband/rdma_cm is not this user's; as root run chmod 666 "
		           "/dev/infiniband/rdma_cm /dev/infiniband/uverbs*");
	else
		say_devices(t, names);
}
