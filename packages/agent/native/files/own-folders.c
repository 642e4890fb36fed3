/* Verbs that begin with root's rights: making a user's folder below folders of root's, and removing below them. Each
   folder on the way is opened once, without links, and must be root's alone until the part that is the user's. */
#include "files.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char NOT_OWN[] = "a folder above the output belongs to another user or can be written by others";

int is_own(int folder, int permit_sticky)
{
    struct stat found;
    if (fstat(folder, &found) != 0) return 0;
    if (found.st_uid != geteuid()) return errno = EPERM, 0;
    if ((found.st_mode & 022) == 0 || (permit_sticky && (found.st_mode & S_ISVTX))) return 1;
    return errno = EPERM, 0;
}

int split(char *path, char **parts)
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

static int is_empty(int folder)
{
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), entries = 0;
    DIR *list = own < 0 ? NULL : fdopendir(own);
    if (list == NULL) return 0;
    while (entries <= 2 && readdir(list) != NULL) entries++;
    closedir(list);
    return entries <= 2;
}

/* A folder that this call made, or that an earlier one made and did not get to hand over, is handed over by descriptor. */
static int hand_over(int folder, int made, uid_t uid, gid_t gid, mode_t mode)
{
    struct stat found;
    if (fstat(folder, &found) != 0) return -1;
    if (found.st_uid == uid) return 0;
    if (found.st_uid != geteuid() || (!made && !is_empty(folder))) return errno = EPERM, -1;
    return fchmod(folder, mode) == 0 && fchown(folder, uid, gid) == 0 ? 0 : -1;
}

/* The base is a folder of the site's; a link in its own path is the site's business. */
static int open_base(const char *path)
{
    int folder = open_path(path);
    if (folder < 0 || is_own(folder, 1)) return folder;
    int why = errno;
    close(folder);
    return errno = why, -1;
}

/* BASE RELATIVE OWNED MODE UID GID GROUPS */
int verb_folder(char **words, int count, struct reply *reply)
{
    char *parts[MAX_PARTS];
    int owned = atoi(words[2]), parted = split(words[1], parts), folder = open_base(words[0]);
    mode_t mode = (mode_t)strtoul(words[3], NULL, 8);
    uid_t user = 0;
    gid_t group = 0;
    (void)count;
    if (parse_user(words[4], words[5], &user, &group) != 0) return reply_error(reply, errno, "user");
    if (folder < 0) return reply_error(reply, errno, errno == EPERM ? NOT_OWN : words[0]);
    if (parted < 0 || owned < 0 || owned >= parted) return reply_error(reply, EINVAL, "path");
    umask(0);
    for (int at = 0; at < parted; at++) {
        if (at == owned + 1 && act_as_user(words[4], words[5], words[6]) != 0)
            return reply_error(reply, errno, "change of user");
        int made = mkdirat(folder, parts[at], at < owned ? 0755 : mode) == 0;
        if (!made && errno != EEXIST) return reply_error(reply, errno, parts[at]);
        /* What the user has mounted below its own folder may never answer. */
        int next = open_folder(folder, parts[at], at <= owned);
        if (next < 0) return reply_error(reply, errno, parts[at]);
        if (at < owned && !is_own(next, 0)) return reply_error(reply, errno, NOT_OWN);
        if (at == owned && hand_over(next, made, user, group, mode) != 0) return reply_error(reply, errno, parts[at]);
        close(folder);
        folder = next;
    }
    return reply_ok(reply, "", 0);
}

/* Becomes the owner of an open folder. Only root can have made the folder, below folders of root's. */
static int become_owner(int folder)
{
    struct stat found;
    char uid[16], gid[16];
    if (fstat(folder, &found) != 0) return -1;
    if (found.st_uid == geteuid()) return 0;
    snprintf(uid, sizeof uid, "%u", found.st_uid);
    snprintf(gid, sizeof gid, "%u", found.st_gid);
    return become_user(uid, gid, gid);
}

static int is_kept(const char *kept, unsigned long number)
{
    for (const char *at = kept; *at != '\0'; at += *at == ',') {
        char *end;
        if (strtoul(at, &end, 10) == number) return 1;
        if (end == at) return 0;
        at = end;
    }
    return 0;
}

/* Numbers without leading zeros are checkpoints; everything else in the folder is the user's. */
static int is_outdated(const char *name, unsigned long below, const char *kept)
{
    size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > 10 || name[digits] != '\0' || name[0] == '0') return 0;
    unsigned long number = strtoul(name, NULL, 10);
    return (below == 0 || number < below) && !is_kept(kept, number);
}

static int prune(int folder, unsigned long below, const char *kept)
{
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), why = 0;
    DIR *list = own < 0 ? NULL : fdopendir(own);
    if (list == NULL) return errno;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (is_outdated(entry->d_name, below, kept) && remove_tree(folder, entry->d_name, 0) != 0 && why == 0) why = errno;
    closedir(list);
    return why;
}

/* BASE RELATIVE OWNED BELOW KEPT; BELOW 0: all of them, and then the folder unless it has other entries. */
int verb_prune(char **words, int count, struct reply *reply)
{
    char *parts[MAX_PARTS];
    int owned = atoi(words[2]), parted = split(words[1], parts), folder = open_base(words[0]), above = -1;
    unsigned long below = strtoul(words[3], NULL, 10);
    (void)count;
    if (parted < 0 || owned < 0 || owned >= parted) return reply_error(reply, EINVAL, "path");
    for (int at = 0; folder >= 0 && at < parted; at++) {
        if (above >= 0) close(above);
        above = folder;
        folder = open_folder(above, parts[at], 1);
        if (folder < 0) break;
        if (at < owned && !is_own(folder, 0)) return reply_error(reply, errno, NOT_OWN);
        if (at == owned && become_owner(folder) != 0) return reply_error(reply, errno, "change of user");
    }
    if (folder < 0) return errno == ENOENT ? reply_ok(reply, "", 0) : reply_error(reply, errno, words[1]);
    int why = prune(folder, below, words[4]);
    if (why != 0) return reply_error(reply, why, parts[parted - 1]);
    if (below == 0) unlinkat(above, parts[parted - 1], AT_REMOVEDIR);
    return reply_ok(reply, "", 0);
}

/* BASE NAME */
int verb_clear(char **words, int count, struct reply *reply)
{
    (void)count;
    int folder = open_path(words[0]);
    if (folder < 0) return errno == ENOENT ? reply_ok(reply, "", 0) : reply_error(reply, errno, words[0]);
    if (!is_own(folder, 0)) return reply_error(reply, errno, words[0]);
    if (remove_tree(folder, words[1], geteuid() == 0) != 0) return reply_error(reply, errno, words[1]);
    return reply_ok(reply, "", 0);
}
