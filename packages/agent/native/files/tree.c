/* Trees that a user may change at any moment. Every step goes from an open folder to one name below it, never by a path
   and never through a link, so that a name that is swapped in between leads nowhere. */
#include "files.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Deeper trees are refused: a descriptor is held for each level. */
enum { MAX_DEPTH = 512 };

static int is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

int open_folder(int parent, const char *name, int mounts)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | (mounts ? 0 : RESOLVE_NO_XDEV)};
    if (name[0] == '\0' || strchr(name, '/') != NULL || is_dots(name)) return errno = EINVAL, -1;
    return (int)syscall(SYS_openat2, parent, name, &how, sizeof how);
}

int open_path(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK); }

static int empty_folder(int folder, int depth, dev_t device);

static int remove_entry(int parent, const char *name, int depth, dev_t device)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) return 0;
    if (errno != EISDIR && errno != EPERM) return -1;
    if (depth >= MAX_DEPTH) return errno = ELOOP, -1;
    int folder = open_folder(parent, name, 0);
    if (folder < 0) return errno == ENOENT ? 0 : -1;
    struct stat found;
    int failed = fstat(folder, &found) != 0;
    if (!failed && found.st_dev != device) failed = 1, errno = EXDEV;
    if (!failed) failed = empty_folder(folder, depth + 1, device) != 0;
    int why = errno;
    close(folder);
    if (failed) return errno = why, -1;
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : -1;
}

/* Continues after an entry that cannot be removed, and reports the first one. Takes over no descriptor. */
static int empty_folder(int folder, int depth, dev_t device)
{
    int own = dup(folder), why = 0;
    /* An owner may have removed its own permission to list the folder. */
    if (own >= 0 && faccessat(own, ".", R_OK | W_OK | X_OK, AT_EACCESS) != 0) fchmod(own, 0700);
    DIR *list = own < 0 ? NULL : fdopendir(own);
    if (list == NULL) return -1;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        if (is_dots(entry->d_name)) continue;
        if (remove_entry(folder, entry->d_name, depth, device) != 0 && why == 0) why = errno;
    }
    closedir(list);
    return why == 0 ? 0 : (errno = why, -1);
}

int remove_tree(int parent, const char *name)
{
    struct stat found;
    if (name[0] == '\0' || strchr(name, '/') != NULL || is_dots(name)) return errno = EINVAL, -1;
    if (fstat(parent, &found) != 0) return -1;
    return remove_entry(parent, name, 0, found.st_dev);
}

static int measure_entry(int folder, const char *name, long *most, unsigned long long *bytes)
{
    struct stat found;
    if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0) return 0;
    if (S_ISREG(found.st_mode)) *bytes += (unsigned long long)found.st_size;
    if (!S_ISDIR(found.st_mode)) return 0;
    int below = open_folder(folder, name, 0);
    if (below < 0) return errno == ENOENT ? 0 : 1;
    int hidden = measure_tree(below, most, bytes);
    close(below);
    return hidden;
}

int measure_tree(int folder, long *most, unsigned long long *bytes)
{
    int own = dup(folder), hidden = 0;
    DIR *list = own < 0 ? NULL : fdopendir(own);
    if (list == NULL) return 1;
    for (struct dirent *entry; *most > 0 && (entry = readdir(list)) != NULL;) {
        if (is_dots(entry->d_name)) continue;
        *most -= 1;
        hidden |= measure_entry(folder, entry->d_name, most, bytes);
    }
    closedir(list);
    return hidden;
}
