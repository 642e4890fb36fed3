/* The closed set of verbs. Verbs with a user drop all privileges before they look at anything of the user's; verbs of
   root act below folders that only root can write, and check that.

     probe                                            whether the kernel has what the other verbs need
     folder BASE RELATIVE OWNED MODE UID GID GROUPS   makes BASE/RELATIVE; from part number OWNED on it is the user's
     prune  BASE RELATIVE OWNED BELOW KEPT            removes numbered entries as the owner of part number OWNED
     clear  BASE NAME                                 an entry of a folder of root's with all below it
     make   UID GID GROUPS PATH                       makes a folder with its parents, as the user
     reach  UID GID GROUPS PATH                       whether the user may list and enter a folder
     find   UID GID GROUPS FOLDERS NAME...            the first program that the user cannot run from a search path
     size   UID GID GROUPS PATH MOST                  bytes of the files below a folder, as the user
     read   UID GID GROUPS PATH MOST                  a small regular file, as the user
     head   UID GID GROUPS PATH MOST                  the first bytes of a regular file, as the user
     put    UID GID GROUPS FOLDER NAME TEXT           replaces a small file, as the user
     drop   UID GID GROUPS FOLDER NAME                removes a name that is not a folder, as the user
     poke   UID GID GROUPS PATH OFFSET VALUE...       numbers in a file, as the user
     search UID GID GROUPS PATH TEXT MOST WITHIN      the bytes of a regular file from a text, as the user
     environ PID                                      the environment of a process
     io     PID...                                    bytes that processes have read from storage and written to it
*/
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_GROUPS = 65536, MAX_LEVELS_MEASURED = 64 };

/* The largest number means "unchanged" to the kernel, and is nobody's. Returns the end of the number, or NULL. */
static const char *parse_id(const char *text, unsigned *id)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 10) return NULL;
    unsigned long long value = strtoull(text, NULL, 10);
    if (value >= 4294967295ULL) return NULL;
    *id = (unsigned)value;
    return text + digits;
}

/* Returns the number of groups, or -1. */
static int parse_groups(const char *text, gid_t *groups)
{
    int count = 0;
    if (*text == '\0') return 0;
    for (const char *at = text;; at++) {
        if (count == MAX_GROUPS || (at = parse_id(at, &groups[count])) == NULL) return -1;
        count++;
        if (*at == '\0') return count;
        if (*at != ',') return -1;
    }
}

static int is_user(uid_t user, gid_t group)
{
    uid_t uids[3];
    gid_t gids[3];
    if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 || getresgid(&gids[0], &gids[1], &gids[2]) != 0) return 0;
    for (int at = 0; at < 3; at++)
        if (uids[at] != user || gids[at] != group) return 0;
    return 1;
}

int parse_user(const char *uid, const char *gid, uid_t *user, gid_t *group)
{
    const char *ends[2] = {parse_id(uid, user), parse_id(gid, group)};
    if (ends[0] == NULL || ends[1] == NULL || *ends[0] != '\0' || *ends[1] != '\0') return errno = EINVAL, -1;
    if (geteuid() != 0) return geteuid() == *user ? 0 : (errno = EPERM, -1);
    return *user == 0 && !root_has_jobs ? (errno = EPERM, -1) : 0;
}

int become_user(const char *uid, const char *gid, const char *groups)
{
    static gid_t all[MAX_GROUPS];
    uid_t user = 0;
    gid_t group = 0;
    int count = parse_groups(groups, all);
    if (count < 0) return errno = EINVAL, -1;
    if (parse_user(uid, gid, &user, &group) != 0) return -1;
    if (user == geteuid()) return 0;
    if (setgroups((size_t)count, all) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0)
        return -1;
    if (!is_user(user, group) || setresuid((uid_t)-1, 0, (uid_t)-1) == 0) _exit(1);
    /* The change of user has cleared it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int act_as_user(const char *uid, const char *gid, const char *groups)
{
    static gid_t all[MAX_GROUPS];
    uid_t user = 0;
    gid_t group = 0;
    int count = parse_groups(groups, all);
    if (count < 0) return errno = EINVAL, -1;
    if (parse_user(uid, gid, &user, &group) != 0) return -1;
    if (user == geteuid()) return 0;
    if (setgroups((size_t)count, all) != 0 || setresgid(group, group, group) != 0 || seteuid(user) != 0) return -1;
    if (geteuid() != user || getegid() != group) _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return 0;
}

static int verb_probe(char **words, int count, struct reply *reply)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    (void)words, (void)count;
    if (syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how) < 0) return reply_error(reply, errno, "openat2");
    if (access("/proc/self/fd", X_OK) != 0) return reply_error(reply, errno, "/proc/self/fd");
    return reply_ok(reply, "", 0);
}

static int verb_make(char **words, int count, struct reply *reply)
{
    char path[PATH_MAX];
    (void)count;
    if (words[0][0] != '/' || strlen(words[0]) >= sizeof path) return reply_error(reply, EINVAL, words[0]);
    strcpy(path, words[0]);
    for (char *at = path + 1; *at != '\0'; at++) {
        if (*at != '/') continue;
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST && errno != EACCES && errno != EROFS && errno != EPERM)
            return reply_error(reply, errno, path);
        *at = '/';
    }
    if (mkdir(path, 0777) != 0 && errno != EEXIST) return reply_error(reply, errno, path);
    int folder = open_path(path);
    if (folder < 0) return reply_error(reply, errno, path);
    if (faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) != 0) return reply_error(reply, errno, path);
    return reply_ok(reply, "", 0);
}

static int verb_reach(char **words, int count, struct reply *reply)
{
    int folder = open_path(words[0]);
    (void)count;
    if (folder < 0 || faccessat(folder, ".", R_OK | X_OK, AT_EACCESS) != 0) return reply_error(reply, errno, words[0]);
    return reply_ok(reply, "", 0);
}

static int is_found(const char *folders, const char *name)
{
    char path[PATH_MAX];
    for (const char *at = folders; *at != '\0'; at += *at == ':') {
        size_t length = strcspn(at, ":");
        int size = snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);
        if (length > 0 && size < (int)sizeof path && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0) return 1;
        at += length;
    }
    return 0;
}

static int verb_find(char **words, int count, struct reply *reply)
{
    for (int at = 1; at < count; at++)
        if (!is_found(words[0], words[at])) return reply_ok(reply, words[at], strlen(words[at]));
    return reply_ok(reply, "", 0);
}

static int verb_size(char **words, int count, struct reply *reply)
{
    char text[64];
    unsigned long long bytes = 0;
    long most = strtol(words[1], NULL, 10);
    int folder = open_path(words[0]);
    (void)count;
    if (folder < 0 && errno != ENOENT) return reply_error(reply, errno, words[0]);
    int hidden = folder < 0 ? 0 : measure_tree(folder, MAX_LEVELS_MEASURED, &most, &bytes);
    int length = snprintf(text, sizeof text, "%llu %s", bytes, hidden ? "part" : "all");
    return reply_ok(reply, text, (size_t)length);
}

/* `words` are the fields after the verb and, for a user's verbs, after the user. */
int serve(const struct request *request, struct reply *reply)
{
    static const struct {
        const char *name;
        int (*run)(char **, int, struct reply *);
        int is_user, least, most;
    } verbs[] = {
        {"probe", verb_probe, 0, 0, 0}, {"folder", verb_folder, 0, 7, 7}, {"prune", verb_prune, 0, 5, 5},
        {"clear", verb_clear, 0, 2, 2}, {"make", verb_make, 1, 1, 1},     {"reach", verb_reach, 1, 1, 1},
        {"find", verb_find, 1, 2, 64},  {"size", verb_size, 1, 2, 2},     {"read", verb_read, 1, 2, 2},
        {"head", verb_head, 1, 2, 2},   {"put", verb_put, 1, 3, 3},       {"drop", verb_drop, 1, 2, 2},
        {"poke", verb_poke, 1, 3, 64},  {"search", verb_search, 1, 4, 4}, {"environ", verb_environ, 0, 1, 1},
        {"io", verb_io, 0, 1, 256},
    };
    char **words = (char **)request->fields + 1;
    int count = request->count - 1;
    for (size_t at = 0; at < sizeof verbs / sizeof verbs[0]; at++) {
        int own = verbs[at].is_user ? 3 : 0;
        if (strcmp(request->fields[0], verbs[at].name) != 0) continue;
        if (count < own + verbs[at].least || count > own + verbs[at].most) break;
        if (own > 0 && become_user(words[0], words[1], words[2]) != 0)
            return reply_error(reply, errno, "change of user");
        return verbs[at].run(words + own, count - own, reply);
    }
    return reply_error(reply, EINVAL, "request");
}
