/* SPDX-License-Identifier: Apache-2.0 */
#include <store/set/state.h>
#include <store/store.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER "grapnel replica 2\n"
#define HEADER_BEFORE "grapnel replica 1\n" /* the same without logs */
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

static const char *const kinds[] = {"ok ", "stale ", "missed "};

/* `ok NAME`, `stale NAME` or `missed NAME`. */
static int take_member(struct gn_replica_state *s, const char *line)
{
	int kind = 0;

	while (kind < 3 && strncmp(line, kinds[kind], strlen(kinds[kind])) != 0)
		kind++;
	if (kind == 3 || s->members == GN_SET_MOST)
		return -GN_EBADMSG;
	s->name[s->members] = strdup(line + strlen(kinds[kind]));
	if (!s->name[s->members])
		return -GN_ENOMEM;
	s->stale[s->members++] = kind;
	return 0;
}

/* What follows a word at the begin of a line, if it has room. NULL: the line begins with something else. */
static const char *after(const char *line, const char *word, size_t room)
{
	const size_t length = strlen(word);

	return strncmp(line, word, length) || strlen(line + length) >= room ? NULL : line + length;
}

/* One line: `open 0`, `log NUMBER`, `boot ID`, a member, or `is MARK` of the member before it. */
static int take_line(struct gn_replica_state *s, const char *line)
{
	const char *value;

	if (!strcmp(line, "open 0") || !strcmp(line, "open 1")) {
		s->open = line[5] - '0';
		return 0;
	}
	value = after(line, "log ", 17);
	if (value)
		return sscanf(value, "%" SCNx64, &s->log) == 1 ? 0 : -GN_EBADMSG;
	value = after(line, "boot ", sizeof s->boot);
	if (value)
		return snprintf(s->boot, sizeof s->boot, "%s", value) > 0 ? 0 : -GN_EBADMSG;
	value = s->members ? after(line, "is ", sizeof *s->mark) : NULL;
	if (value)
		return snprintf(s->mark[s->members - 1], sizeof *s->mark, "%s", value) > 0 ? 0 : -GN_EBADMSG;
	return take_member(s, line);
}

static int take_lines(struct gn_replica_state *s, FILE *file)
{
	char line[GN_URI_MAX + 16];
	int rc = fgets(line, sizeof line, file) && (!strcmp(line, HEADER) || !strcmp(line, HEADER_BEFORE))
	             ? 0
	             : -GN_EBADMSG;

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
	if (s->log)
		fprintf(file, "log %016" PRIx64 "\n", s->log);
	if (s->log && *s->boot)
		fprintf(file, "boot %s\n", s->boot);
	for (unsigned k = 0; k < s->members; k++)
		fprintf(file, "%s%s\n%s%s%s", kinds[s->stale[k]], s->name[k], *s->mark[k] ? "is " : "",
		        s->mark[k], *s->mark[k] ? "\n" : "");
	fputs(FOOTER, file);
	return ferror(file) || fflush(file) || fsync(fileno(file)) ? errno : 0;
}

int gn_replica_sync_folder(const char *path)
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
	return rc ? rc : gn_replica_sync_folder(path);
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

		s->stale[k] = there < 0 ? GN_STALE_WHOLE : file->stale[there];
		if (there >= 0)
			memcpy(s->mark[k], file->mark[there], sizeof *s->mark);
	}
	s->open = file->open;
	s->log = file->log;
	memcpy(s->boot, file->boot, sizeof s->boot);
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
	same = now.open == s->open && now.log == s->log && !strcmp(now.boot, s->boot) &&
	       !memcmp(now.stale, s->stale, sizeof now.stale);
	gn_replica_state_fini(&now);
	return same ? 0
	            : gn_error_set(error, -GN_EBUSY,
	                           "replica: another program wrote the members and changed state=%s while "
	                           "they were opened; open the replica again",
	                           path);
}

/* ---- the log ---- */

/*
 * While a program writes, the maps have its writes only in memory: they are gone when the system stops, or
 * when the file system that has them fails and is mounted again.
 */
int gn_replica_state_trust(const struct gn_replica_state *s, struct gn_replica_log *log, const char *path,
                           uint64_t capacity, struct gn_error *error)
{
	char boot[GN_BOOT_BYTES];
	int rc;

	if (!s->log)
		return 0;
	rc = gn_replica_log_open(log, path, s->log, capacity, error);
	if (rc)
		return rc == -GN_ENOENT ? 0 : rc;
	gn_replica_boot(log, boot);
	if (!s->open || (*boot && !strcmp(boot, s->boot)))
		return 1;
	gn_replica_log_close(log);
	return 0;
}
