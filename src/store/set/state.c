/* SPDX-License-Identifier: Apache-2.0 */
#include <store/set/state.h>
#include <store/store.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER "grapnel replica 1\n"
#define FOOTER "end\n"

/* ---- names ---- */

static char *join_name(const char *scheme, const char *path, const char *nsid)
{
	const size_t bytes = strlen(scheme) + strlen(path) + (nsid ? strlen(nsid) : 0) + 8;
	char *name = (char *)malloc(bytes);

	if (name)
		snprintf(name, bytes, "%s:%s%s%s", scheme, path, nsid ? "?ns=" : "", nsid ? nsid : "");
	return name;
}

/*
 * The whole path of a file, which need not be there: that of its folder, and its own name. If the folder is
 * not there either, the path as it is, behind the working folder if it is relative. NULL: no memory.
 */
static char *whole_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const size_t bytes = PATH_MAX + strlen(path) + 2;
	char folder[PATH_MAX], *given, *whole;

	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	given = realpath(folder, NULL);
	whole = (char *)malloc(bytes);
	if (whole && given)
		snprintf(whole, bytes, "%s/%s", strcmp(given, "/") ? given : "", slash ? slash + 1 : path);
	else if (whole && *path != '/' && getcwd(folder, sizeof folder))
		snprintf(whole, bytes, "%s/%s", folder, path);
	else if (whole)
		snprintf(whole, bytes, "%s", path);
	free(given);
	return whole;
}

static char *name_of(const struct gn_uri *uri)
{
	const int is_file = !strcmp(uri->scheme, "file");
	const char *nsid = NULL;
	char *path = is_file ? whole_path(uri->path) : NULL, *name;

	for (unsigned k = 0; k < uri->options; k++)
		if (!strcmp(uri->option[k].name, "ns"))
			nsid = uri->option[k].value;
	name = is_file && !path ? NULL : join_name(uri->scheme, path ? path : uri->path, nsid);
	free(path);
	return name;
}

char *gn_replica_name(const char *text)
{
	struct gn_uri *uri = (struct gn_uri *)malloc(sizeof *uri);
	char *name = NULL;

	if (uri)
		name = gn_uri_parse(uri, text, NULL) ? strdup(text) : name_of(uri);
	free(uri);
	return name;
}

int gn_replica_state_init(struct gn_replica_state *s, char *const *uri, unsigned members,
                          struct gn_error *error)
{
	memset(s, 0, sizeof *s);
	for (; s->members < members; s->members++) {
		s->name[s->members] = gn_replica_name(uri[s->members]);
		if (!s->name[s->members]) {
			gn_replica_state_fini(s);
			return gn_error_set(error, -GN_ENOMEM, "replica: out of memory");
		}
	}
	return 0;
}

void gn_replica_state_fini(struct gn_replica_state *s)
{
	for (unsigned k = 0; k < s->members; k++)
		free(s->name[k]);
	memset(s, 0, sizeof *s);
}

/* ---- reading ---- */

/* One line: `open 0`, `ok NAME` or `stale NAME`. Returns 0 or a negative code. */
static int take_line(struct gn_replica_state *s, const char *line)
{
	const int stale = !strncmp(line, "stale ", 6);

	if (!strcmp(line, "open 0") || !strcmp(line, "open 1")) {
		s->open = line[5] - '0';
		return 0;
	}
	if ((!stale && strncmp(line, "ok ", 3) != 0) || s->members == GN_SET_MOST)
		return -GN_EBADMSG;
	s->name[s->members] = strdup(line + (stale ? 6 : 3));
	if (!s->name[s->members])
		return -GN_ENOMEM;
	s->stale[s->members++] = stale;
	return 0;
}

static int take_lines(struct gn_replica_state *s, FILE *file)
{
	char line[GN_URI_MAX + 16];
	int rc = fgets(line, sizeof line, file) && !strcmp(line, HEADER) ? 0 : -GN_EBADMSG;

	while (!rc && fgets(line, sizeof line, file)) {
		char *end = strchr(line, '\n');

		if (!end)
			return -GN_EBADMSG;
		if (!strcmp(line, FOOTER))
			return s->members ? 0 : -GN_EBADMSG;
		*end = '\0';
		rc = take_line(s, line);
	}
	return rc ? rc : ferror(file) ? -GN_EIO : -GN_EBADMSG;
}

/* NULL: errno says why. O_NONBLOCK: opening a FIFO must not wait for its other end. */
static FILE *open_state(const char *path)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopen(fd, "r");
}

static int is_regular(FILE *file)
{
	struct stat st;

	return !fstat(fileno(file), &st) && S_ISREG(st.st_mode);
}

int gn_replica_state_load(struct gn_replica_state *s, const char *path, struct gn_error *error)
{
	FILE *file = open_state(path);
	int rc;

	memset(s, 0, sizeof *s);
	if (!file)
		return gn_error_set(error, gn_store_code(errno),
		                    "replica: state=%s cannot be read: %s; grapnel store rebuild makes it",
		                    path, strerror(errno));
	rc = is_regular(file) ? take_lines(s, file) : -GN_EBADMSG;
	fclose(file);
	if (!rc)
		return 0;
	gn_replica_state_fini(s);
	return gn_error_set(error, rc,
	                    "replica: state=%s is not the state of a replica, or is damaged; give the right "
	                    "file, or remove it and make it anew with grapnel store rebuild --from",
	                    path);
}

/* ---- writing ---- */

static int print_state(const struct gn_replica_state *s, FILE *file)
{
	fputs(HEADER, file);
	fprintf(file, "open %d\n", s->open);
	for (unsigned k = 0; k < s->members; k++)
		fprintf(file, "%s %s\n", s->stale[k] ? "stale" : "ok", s->name[k]);
	fputs(FOOTER, file);
	return ferror(file) || fflush(file) || fsync(fileno(file)) ? errno : 0;
}

/* Make the new name of a file durable. */
static int sync_folder(const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int fd, rc;

	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	rc = fsync(fd) ? errno : 0;
	close(fd);
	return rc == EINVAL ? 0 : rc; /* a file system without that */
}

/* A new file beside the state, which who may read the state may read. NULL: errno says why. */
static FILE *make_beside(const char *path, char *made, size_t size)
{
	struct stat st;
	int fd;

	if (snprintf(made, size, "%s.XXXXXX", path) >= (int)size) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	fd = mkostemp(made, O_CLOEXEC);
	if (fd < 0)
		return NULL;
	(void)!fchmod(fd, stat(path, &st) ? 0644 : st.st_mode & 0666);
	return fdopen(fd, "w");
}

static int replace(const struct gn_replica_state *s, const char *path)
{
	char made[PATH_MAX];
	FILE *file = make_beside(path, made, sizeof made);
	int rc;

	if (!file)
		return errno;
	rc = print_state(s, file);
	if (fclose(file) && !rc)
		rc = errno;
	if (!rc && rename(made, path))
		rc = errno;
	if (rc)
		unlink(made);
	return rc ? rc : sync_folder(path);
}

int gn_replica_state_save(const struct gn_replica_state *s, const char *path, struct gn_error *error)
{
	char *whole;
	int rc = 0;

	for (unsigned k = 0; k < s->members; k++)
		if (strchr(s->name[k], '\n'))
			return gn_error_set(error, -GN_EINVAL,
			                    "replica: the path of member %u has a line break; rename it",
			                    k + 1);
	whole = realpath(path, NULL); /* a link stays one */
	rc = replace(s, whole ? whole : path);
	free(whole);
	return rc ? gn_error_set(error, gn_store_code(rc),
	                         "replica: state=%s cannot be written: %s; make its folder writable, or name "
	                         "another file",
	                         path, strerror(rc))
	          : 0;
}

/* ---- a file and the members that a URI names ---- */

static int find(const struct gn_replica_state *s, const char *name)
{
	for (unsigned k = 0; k < s->members; k++)
		if (!strcmp(s->name[k], name))
			return (int)k;
	return -1;
}

static int refuse_others(const struct gn_replica_state *s, const struct gn_replica_state *file,
                         const char *path, struct gn_error *error)
{
	for (unsigned k = 0; k < s->members; k++)
		if (find(file, s->name[k]) < 0)
			return gn_error_set(
			    error, -GN_EINVAL,
			    "replica: state=%s does not know member %u (%s); check the name, or "
			    "add it with grapnel store rebuild",
			    path, k + 1, s->name[k]);
	for (unsigned k = 0; k < file->members; k++)
		if (find(s, file->name[k]) < 0)
			return gn_error_set(
			    error, -GN_EINVAL,
			    "replica: state=%s also has member %s; name it too, or drop it with "
			    "grapnel store rebuild",
			    path, file->name[k]);
	return 0;
}

/* A member that the file does not know is stale. */
static void take_marks(struct gn_replica_state *s, const struct gn_replica_state *file)
{
	for (unsigned k = 0; k < s->members; k++) {
		const int there = find(file, s->name[k]);

		s->stale[k] = there < 0 || file->stale[there];
	}
	s->open = file->open;
}

int gn_replica_state_take(struct gn_replica_state *s, const char *path, char *const *uri, unsigned members,
                          int others, struct gn_error *error)
{
	struct gn_replica_state file;
	int rc = gn_replica_state_load(&file, path, error);

	memset(s, 0, sizeof *s);
	if (rc)
		return rc;
	rc = gn_replica_state_init(s, uri, members, error);
	if (!rc && !others)
		rc = refuse_others(s, &file, path, error);
	if (rc)
		gn_replica_state_fini(s);
	else
		take_marks(s, &file);
	gn_replica_state_fini(&file);
	return rc;
}

int gn_replica_state_same(const struct gn_replica_state *s, const char *path, char *const *uri,
                          struct gn_error *error)
{
	struct gn_replica_state now;
	int same, rc = gn_replica_state_take(&now, path, uri, s->members, 0, error);

	if (rc)
		return rc;
	same = now.open == s->open && !memcmp(now.stale, s->stale, sizeof now.stale);
	gn_replica_state_fini(&now);
	return same ? 0
	            : gn_error_set(error, -GN_EBUSY,
	                           "replica: another program wrote the members and changed state=%s while "
	                           "they were opened; open the replica again",
	                           path);
}
