/* Trees that a user may change at any moment. Every step goes from an open folder to one name below it, never by a path
   and never through a link, so that a name that is swapped in between leads nowhere. Nothing here is recursive: a tree may
   be deeper than descriptors or memory last. */
#include "files.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Folders below MAX_LEVELS are moved up before they are removed. Mounts may lie on top of each other. */
enum { MAX_LEVELS = 64, MAX_MOUNTS = 64, NAME_BYTES = 256 };

static int is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

static int is_name(const char *name)
{
    return name[0] != '\0' && strlen(name) < NAME_BYTES && strchr(name, '/') == NULL && !is_dots(name);
}

int open_folder(int parent, const char *name, int mounts)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | (mounts ? 0 : RESOLVE_NO_XDEV)};
    if (!is_name(name)) return errno = EINVAL, -1;
    return (int)syscall(SYS_openat2, parent, name, &how, sizeof how);
}

int open_path(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK); }

struct level {
    DIR *list;
    /* Entries removed since the list was opened: it may have missed others. */
    long removed;
    char name[NAME_BYTES];
};

struct removal {
    /* The folder that holds the tree. */
    int top;
    int as_root;
    uint64_t chance;
    unsigned long moved;
    int depth;
    struct level levels[MAX_LEVELS];
    /* The first error; the removal continues after it. */
    int why;
};

static int note(struct removal *all, int why)
{
    return all->why == 0 ? all->why = why : 0;
}

/* A program of the user's may have mounted there. By a single name in an open folder, so that no link is followed. */
static int detach(const struct removal *all, int parent, const char *name)
{
    if (!all->as_root || fchdir(parent) != 0) return -1;
    int done = umount2(name, MNT_DETACH | UMOUNT_NOFOLLOW);
    return chdir("/") == 0 ? done : -1;
}

/* An owner may have removed its own permission to list a folder, which also keeps it from being opened. */
static int permit(int parent, const char *name)
{
    char path[64];
    int folder = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
    int done = chmod(path, 0700);
    close(folder);
    return done;
}

/* The user adds nothing more to a folder that root has taken. */
static void take_over(const struct removal *all, int folder)
{
    struct stat found;
    if (fstat(folder, &found) != 0) return;
    if (all->as_root && found.st_uid != geteuid() && fchown(folder, geteuid(), getegid()) != 0) return;
    if ((found.st_mode & 0777) != 0700) fchmod(folder, 0700);
}

static int enter(const struct removal *all, int parent, const char *name)
{
    int permitted = 0;
    for (int mounts = 0; mounts < MAX_MOUNTS; mounts++) {
        int folder = open_folder(parent, name, 0);
        if (folder >= 0) return take_over(all, folder), folder;
        if (errno == EXDEV && detach(all, parent, name) == 0) continue;
        if (errno == EACCES && !permitted++ && permit(parent, name) == 0) continue;
        return -1;
    }
    return errno = EBUSY, -1;
}

/* To the first level, which the user cannot write any more once root has taken it. */
static int move_up(struct removal *all, int parent, const char *name)
{
    char fresh[64];
    int first = dirfd(all->levels[0].list);
    snprintf(fresh, sizeof fresh, ".removing-%016llx-%lu", (unsigned long long)all->chance, all->moved++);
    for (int tries = 0; tries < MAX_MOUNTS; tries++) {
        if (renameat2(parent, name, first, fresh, RENAME_NOREPLACE) == 0) return 0;
        if (errno == EINVAL && renameat(parent, name, first, fresh) == 0) return 0;
        /* The parent of a folder is an entry of it. */
        if (errno == EACCES && permit(parent, name) == 0) continue;
        if (errno == EBUSY && detach(all, parent, name) == 0) continue;
        return -1;
    }
    return -1;
}

static int push(struct removal *all, int folder, const char *name)
{
    DIR *list = fdopendir(folder);
    if (list == NULL) return close(folder), -1;
    struct level *level = &all->levels[all->depth++];
    level->list = list;
    level->removed = 0;
    strcpy(level->name, name);
    return 0;
}

static int remove_entry(struct removal *all, struct level *level, const char *name)
{
    int parent = dirfd(level->list), gone = unlinkat(parent, name, 0) == 0;
    for (int mounts = 0; !gone && errno == EBUSY && mounts < MAX_MOUNTS && detach(all, parent, name) == 0; mounts++)
        gone = unlinkat(parent, name, 0) == 0;
    level->removed += gone;
    if (gone || errno == ENOENT) return 0;
    int why = errno;
    if (why != EISDIR && why != EPERM) return note(all, why);
    if (strlen(name) >= NAME_BYTES) return note(all, ENAMETOOLONG);
    if (all->depth == MAX_LEVELS) {
        if (move_up(all, parent, name) != 0) return note(all, errno);
        level->removed++;
        return 0;
    }
    int folder = enter(all, parent, name);
    if (folder < 0 && errno != ENOENT) return note(all, errno == ENOTDIR ? why : errno);
    return folder >= 0 && push(all, folder, name) != 0 ? note(all, errno) : 0;
}

/* Removes the folder at the end of its list, or begins the list again while that helps. */
static void finish_level(struct removal *all)
{
    struct level *level = &all->levels[all->depth - 1];
    int parent = all->depth == 1 ? all->top : dirfd(all->levels[all->depth - 2].list);
    int gone = unlinkat(parent, level->name, AT_REMOVEDIR) == 0 || errno == ENOENT;
    if (!gone && (errno == ENOTEMPTY || errno == EEXIST) && level->removed > 0) {
        level->removed = 0;
        rewinddir(level->list);
        return;
    }
    if (!gone) note(all, errno);
    closedir(level->list);
    all->depth--;
    if (gone && all->depth > 0) all->levels[all->depth - 1].removed++;
}

static int remove_one(struct removal *all, const char *name)
{
    if (unlinkat(all->top, name, 0) == 0 || errno == ENOENT) return 0;
    int why = errno, folder = enter(all, all->top, name);
    if (folder < 0 && errno != ENOENT) note(all, errno == ENOTDIR ? why : errno);
    if (folder < 0) return 0;
    if (push(all, folder, name) != 0) return note(all, errno);
    while (all->depth > 0) {
        struct level *level = &all->levels[all->depth - 1];
        struct dirent *entry = readdir(level->list);
        if (entry == NULL) finish_level(all);
        else if (!is_dots(entry->d_name)) remove_entry(all, level, entry->d_name);
    }
    return 0;
}

int remove_tree(int parent, const char *name, int as_root)
{
    static struct removal all;
    if (!is_name(name)) return errno = EINVAL, -1;
    all = (struct removal){.top = parent, .as_root = as_root};
    if (getrandom(&all.chance, sizeof all.chance, 0) < 0) return -1;
    remove_one(&all, name);
    return all.why == 0 ? 0 : (errno = all.why, -1);
}

static int measure_entry(int folder, const char *name, int levels, long *most, unsigned long long *bytes)
{
    struct stat found;
    if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) return 0;
    if (S_ISREG(found.st_mode)) *bytes += (unsigned long long)found.st_size;
    if (!S_ISDIR(found.st_mode)) return 0;
    int below = levels == 0 ? -1 : open_folder(folder, name, 0);
    if (below < 0) return levels == 0 || errno != ENOENT;
    return measure_tree(below, levels - 1, most, bytes);
}

/* Takes over the descriptor. */
int measure_tree(int folder, int levels, long *most, unsigned long long *bytes)
{
    int hidden = 0;
    DIR *list = fdopendir(folder);
    if (list == NULL) return close(folder), 1;
    for (struct dirent *entry; *most > 0 && (entry = readdir(list)) != NULL;) {
        if (is_dots(entry->d_name)) continue;
        *most -= 1;
        hidden |= measure_entry(folder, entry->d_name, levels, most, bytes);
    }
    closedir(list);
    return hidden;
}
