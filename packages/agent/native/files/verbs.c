/* The closed set of verbs. Verbs with a user drop all privileges before they look at anything of the user's; verbs of
   root act below folders that only root can write, and check that.

     folder BASE RELATIVE OWNED MODE UID GID GROUPS   makes BASE/RELATIVE; from part number OWNED on it is the user's
     make   UID GID GROUPS PATH                       makes a folder with its parents, as the user
     reach  UID GID GROUPS PATH                       whether the user may list and enter a folder
     read   UID GID GROUPS PATH MOST                  a small regular file, as the user
     size   UID GID GROUPS PATH MOST                  bytes of the files below a folder, as the user
     remove UID GID GROUPS FOLDER NAME...             entries of a folder with all below them, as the user
     clear  BASE NAME                                 an entry of a folder of root's with all below it
*/
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_GROUPS = 65536, MAX_PARTS = 64 };

int become_user(const char *uid, const char *gid, const char *groups)
{
    static gid_t all[MAX_GROUPS];
    size_t count = 0;
    uid_t user = strtoul(uid, NULL, 10);
    gid_t group = strtoul(gid, NULL, 10);
    for (char *at = (char *)groups; *at != '\0' && count < MAX_GROUPS; at += *at == ',') {
        char *end;
        all[count++] = strtoul(at, &end, 10);
        if (end == at) return errno = EINVAL, -1;
        at = end;
    }
    if (uid[0] == '\0' || gid[0] == '\0') return errno = EINVAL, -1;
    if (geteuid() != 0) return geteuid() == user ? 0 : (errno = EPERM, -1);
    if (setgroups(count, all) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Only the agent's own user may be able to change the entries of such a folder. */
static int open_own(const char *path)
{
    struct stat found;
    int folder = open_path(path);
    if (folder < 0 || fstat(folder, &found) != 0) return -1;
    if (found.st_uid == geteuid() && (found.st_mode & 022) == 0) return folder;
    close(folder);
    return errno = EPERM, -1;
}

/* Splits a relative path in place. Returns the number of parts, or -1. */
static int split(char *path, char **parts)
{
    int count = 0;
    for (char *at = path; at != NULL;) {
        char *part = strsep(&at, "/");
        if (part[0] == '\0' || strcmp(part, ".") == 0 || strcmp(part, "..") == 0 || count == MAX_PARTS)
            return errno = EINVAL, -1;
        parts[count++] = part;
    }
    return count;
}

static int make_below(int parent, const char *name, mode_t mode, int *made)
{
    *made = mkdirat(parent, name, mode) == 0;
    if (!*made && errno != EEXIST) return -1;
    return open_folder(parent, name, 1);
}

/* A folder that this call made, or that an earlier one made and did not get to hand over, is handed over by descriptor. */
static int hand_over(int folder, uid_t uid, gid_t gid, mode_t mode)
{
    struct stat found;
    if (fstat(folder, &found) != 0) return -1;
    if (found.st_uid == uid) return 0;
    if (found.st_uid != geteuid() || found.st_nlink > 2) return errno = EPERM, -1;
    return fchmod(folder, mode) == 0 && fchown(folder, uid, gid) == 0 ? 0 : -1;
}

static void verb_folder(char **words, struct reply *reply)
{
    char *parts[MAX_PARTS];
    int owned = atoi(words[2]), made, count = split(words[1], parts), folder = open_path(words[0]);
    mode_t mode = strtoul(words[3], NULL, 8);
    if (folder < 0) return reply_error(reply, errno, words[0]);
    if (count < 0) return reply_error(reply, EINVAL, "path");
    umask(0);
    for (int at = 0; at < count; at++) {
        if (at == owned + 1 && become_user(words[4], words[5], words[6]) != 0)
            return reply_error(reply, errno, "change of user");
        int next = make_below(folder, parts[at], at < owned ? 0755 : mode, &made);
        if (next < 0) return reply_error(reply, errno, parts[at]);
        if (at == owned && hand_over(next, strtoul(words[4], NULL, 10), strtoul(words[5], NULL, 10), mode) != 0)
            return reply_error(reply, errno, parts[at]);
        close(folder);
        folder = next;
    }
    reply_ok(reply, "", 0);
}

static void verb_make(char **words, struct reply *reply)
{
    char path[PATH_MAX];
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
    reply_ok(reply, "", 0);
}

static void verb_reach(char **words, struct reply *reply)
{
    int folder = open_path(words[0]);
    if (folder < 0 || faccessat(folder, ".", R_OK | X_OK, AT_EACCESS) != 0) return reply_error(reply, errno, words[0]);
    reply_ok(reply, "", 0);
}

static void verb_read(char **words, struct reply *reply)
{
    static char bytes[MAX_REPLY];
    struct stat found;
    size_t most = strtoul(words[1], NULL, 10), length = 0;
    int file = open(words[0], O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0 || fstat(file, &found) != 0) return reply_error(reply, errno, words[0]);
    if (!S_ISREG(found.st_mode)) return reply_error(reply, EINVAL, words[0]);
    if (most > sizeof bytes) most = sizeof bytes;
    for (ssize_t got; length < most && (got = read(file, bytes + length, most - length)) > 0;) length += got;
    char more;
    if (length == most && read(file, &more, 1) > 0) return reply_error(reply, EFBIG, words[0]);
    reply_ok(reply, bytes, length);
}

static void verb_size(char **words, struct reply *reply)
{
    char text[64];
    unsigned long long bytes = 0;
    long most = strtol(words[1], NULL, 10);
    int folder = open_path(words[0]);
    if (folder < 0 && errno != ENOENT) return reply_error(reply, errno, words[0]);
    int hidden = folder < 0 ? 0 : measure_tree(folder, &most, &bytes);
    int length = snprintf(text, sizeof text, "%llu %s", bytes, hidden ? "part" : "all");
    reply_ok(reply, text, length);
}

static void verb_remove(char **words, int count, struct reply *reply)
{
    int folder = open_path(words[0]), why = 0;
    if (folder < 0) return errno == ENOENT ? reply_ok(reply, "", 0) : reply_error(reply, errno, words[0]);
    const char *failed = "";
    for (int at = 1; at < count; at++) {
        if (remove_tree(folder, words[at]) == 0 || why != 0) continue;
        why = errno;
        failed = words[at];
    }
    if (why != 0) return reply_error(reply, why, failed);
    reply_ok(reply, "", 0);
}

static void verb_clear(char **words, struct reply *reply)
{
    int folder = open_own(words[0]);
    if (folder < 0) return errno == ENOENT ? reply_ok(reply, "", 0) : reply_error(reply, errno, words[0]);
    if (remove_tree(folder, words[1]) != 0) return reply_error(reply, errno, words[1]);
    reply_ok(reply, "", 0);
}

/* `words` are the fields after the verb and, for a user's verbs, after the user. */
void serve(const struct request *request, struct reply *reply)
{
    static const struct {
        const char *name;
        void (*run)(char **, struct reply *);
        int words;
    } as_user[] = {{"make", verb_make, 1}, {"reach", verb_reach, 1}, {"read", verb_read, 2}, {"size", verb_size, 2}};
    const char *verb = request->fields[0];
    char **words = (char **)request->fields + 1;
    int count = request->count - 1;
    if (strcmp(verb, "folder") == 0 && count == 7) return verb_folder(words, reply);
    if (strcmp(verb, "clear") == 0 && count == 2) return verb_clear(words, reply);
    if (count < 4) return reply_error(reply, EINVAL, "request");
    for (size_t at = 0; at < sizeof as_user / sizeof as_user[0]; at++) {
        if (strcmp(verb, as_user[at].name) != 0 || count != 3 + as_user[at].words) continue;
        if (become_user(words[0], words[1], words[2]) != 0) return reply_error(reply, errno, "change of user");
        return as_user[at].run(words + 3, reply);
    }
    if (strcmp(verb, "remove") != 0) return reply_error(reply, EINVAL, "request");
    if (become_user(words[0], words[1], words[2]) != 0) return reply_error(reply, errno, "change of user");
    verb_remove(words + 3, count - 3, reply);
}
