/* SPDX-License-Identifier: Apache-2.0 */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int gn__code_of_errno(int error)
{
	switch (error) {
	case EPERM: return -GN_EPERM;
	case ENOENT: return -GN_ENOENT;
	case ENOMEM: return -GN_ENOMEM;
	case EACCES: return -GN_EACCES;
	case EBUSY: return -GN_EBUSY;
	case ENXIO:
	case ENODEV: return -GN_ENODEV;
	case ENOTDIR:
	case EISDIR:
	case ELOOP:
	case ENAMETOOLONG:
	case EINVAL: return -GN_EINVAL;
	case EFBIG: return -GN_EFBIG;
	case EDQUOT:
	case ENOSPC: return -GN_ENOSPC;
	case EROFS: return -GN_EROFS;
	case EOPNOTSUPP: return -GN_ENOTSUP;
	default: return -GN_EIO;
	}
}

static const char *open_remedy(int error)
{
	switch (error) {
	case ENOENT: return "check the name";
	case EACCES:
	case EPERM: return "ask its owner for read permission";
	case EMFILE:
	case ENFILE: return "raise the limit of open files (ulimit -n)";
	default: return "check the file system";
	}
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR: return "a directory";
	case S_IFIFO: return "a FIFO";
	case S_IFSOCK: return "a socket";
	case S_IFCHR: return "a character device";
	case S_IFBLK: return "a block device";
	default: return "not a regular file";
	}
}

int gn__input_size(int fd, const char *name, uint64_t *bytes, struct gn_error *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return gn_error_set(e, gn__code_of_errno(errno),
		                    "%s: the file cannot be examined (%s); check the file system", name,
		                    strerror(errno));
	if (!S_ISREG(st.st_mode))
		return gn_error_set(e, -GN_EINVAL,
		                    "%s: the path is %s; only regular files are read, copy its data into one",
		                    name, kind_of(st.st_mode));
	*bytes = (uint64_t)st.st_size;
	return 0;
}

int gn__input_again(int fd, const char *name, int *own, uint64_t *bytes, struct gn_error *e)
{
	const int err = gn__input_size(fd, name, bytes, e);

	if (err)
		return err;
	*own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (*own < 0)
		return gn_error_set(e, gn__code_of_errno(errno),
		                    "%s: no file descriptor is left (%s); raise ulimit -n", name,
		                    strerror(errno));
	return 0;
}

int gn__input_open(const char *path, int *fd, uint64_t *bytes, struct gn_error *e)
{
	int err;

	/* without O_NONBLOCK, opening a FIFO would wait for a writer that may never come */
	*fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd < 0)
		return gn_error_set(e, gn__code_of_errno(errno), "%s: the file cannot be opened (%s); %s",
		                    path, strerror(errno), open_remedy(errno));
	err = gn__input_size(*fd, path, bytes, e);
	if (err) {
		close(*fd);
		*fd = -1;
	}
	return err;
}

int gn__input_read(int fd, const char *name, uint64_t at, void *into, uint64_t bytes, struct gn_error *e)
{
	char *to = (char *)into;

	while (bytes) {
		ssize_t n = pread(fd, to, bytes < 1u << 30 ? bytes : 1u << 30, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return gn_error_set(e, gn__code_of_errno(errno),
			                    "%s: reading at byte %llu failed (%s); check the disk", name,
			                    (unsigned long long)at, strerror(errno));
		if (n == 0)
			return gn_error_set(
			    e, -GN_EBADMSG,
			    "%s: the file ends at byte %llu, before its former end: it was shortened while "
			    "it was read; try again when no program writes it",
			    name, (unsigned long long)at);
		to += n;
		at += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}
