/* Finds the place of a mount and attaches the tree there, by descriptor. The walk to the place is the user's: each part is
   searched with the user's rights, and none is a link. */
#include "mounts.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Independent of the plan. */
static const char *const SYSTEM[] = {"/bin",  "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32",
                                     "/proc", "/root", "/run", "/sbin", "/sys", "/usr",  "/var"};

/* Where root makes empty folders for mounts. Folders that are named after users or projects are not among them. */
static const char *const PLACES[] = {"/data",  "/datasets",         "/input",     "/mnt", "/models",
                                     "/output", "/user-environment", "/user-tools"};
enum { MAX_ENTRIES = 1024 };

static int is_below(const char *path, const char *above)
{
    size_t size = strlen(above);
    while (size > 0 && above[size - 1] == '/') size--;
    return strncmp(path, above, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

static int is_allowed(const char *path)
{
    if (plan.home != NULL && strcmp(path, plan.home) == 0) return 1;
    for (int at = 0; at < plan.allow_count; at++)
        if (is_below(path, plan.allow[at])) return 1;
    return 0;
}

static void check_target(const char *found, const char *path)
{
    for (size_t at = 0; at < sizeof SYSTEM / sizeof SYSTEM[0]; at++)
        if (strcmp(found, "/") == 0 || is_below(found, SYSTEM[at])) fail("%s belongs to the system and cannot be mounted over", path);
    if (!is_allowed(found)) fail("%s is not among the places for mounts", path);
    for (int at = 0; at < plan.protect_count; at++)
        if (is_below(found, plan.protect[at]) || is_below(plan.protect[at], found))
            fail("%s has folders of the agent and cannot be mounted over", path);
}

static void path_of(int folder, char *path, size_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, path, size);
    if (length < 0 || (size_t)length >= size) fail("the path of a mount: %s", strerror(length < 0 ? errno : ENAMETOOLONG));
    path[length] = '\0';
}

/* Only root can change the entries of the folder, and it is on the node's own file system: a name there is no other node's
   and no other user's. */
static int is_node_folder(int folder)
{
    struct stat found, top;
    return fstat(folder, &found) == 0 && stat("/", &top) == 0 && found.st_uid == 0 && (found.st_mode & 022) == 0 &&
           found.st_dev == top.st_dev;
}

static int has_room(int folder)
{
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), entries = 0;
    DIR *list = own < 0 ? NULL : fdopendir(own);
    if (list == NULL) return 0;
    while (entries <= MAX_ENTRIES && readdir(list) != NULL) entries++;
    closedir(list);
    return entries <= MAX_ENTRIES;
}

/* Root makes no folder because a user named it, except one level of empty folders in the node's places for mounts. The other
   folders that it makes are the site's choice: the places themselves, and the home of the job's user. */
static int root_makes(int parent, const char *above, const char *whole)
{
    if (plan.home != NULL && is_below(plan.home, whole)) return 1;
    if (!is_node_folder(parent)) return 0;
    for (int at = 0; at < plan.allow_count; at++)
        if (strcmp(whole, plan.allow[at]) == 0) return 1;
    for (size_t at = 0; at < sizeof PLACES / sizeof PLACES[0]; at++)
        if (strcmp(above, PLACES[at]) == 0) return has_room(parent);
    return 0;
}

/* Otherwise a missing folder is made with the user's rights. */
static void make_part(int parent, const char *name, const char *path, enum target_kind kind)
{
    char above[PATH_MAX], whole[PATH_MAX + NAME_MAX + 2];
    path_of(parent, above, sizeof above);
    snprintf(whole, sizeof whole, "%s/%.*s", strcmp(above, "/") == 0 ? "" : above, NAME_MAX, name);
    int makes = kind == OWN_TARGET || root_makes(parent, above, whole);
    if (!makes) as_user();
    int made = mkdirat(parent, name, 0755), why = errno;
    if (!makes) as_root();
    if (made != 0 && why != EEXIST) fail("%s cannot be made for the mount: %s", path, strerror(why));
}

static int open_part(int folder, const char *part, enum target_kind kind, int flags)
{
    if (kind == USER_TARGET) as_user();
    int next = call_openat2(folder, part, O_PATH | O_NOFOLLOW | flags, BENEATH | NO_SYMLINKS), why = errno;
    if (kind == USER_TARGET) as_root();
    errno = why;
    return next;
}

static int open_target(const char *path, enum target_kind kind)
{
    char copy[PATH_MAX], *rest = copy + 1;
    if (path[0] != '/' || strlen(path) >= sizeof copy) fail("the target %s is not an absolute path", path);
    strcpy(copy, path);
    int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (char *part; folder >= 0 && (part = strsep(&rest, "/")) != NULL;) {
        if (*part == '\0') continue;
        if (strcmp(part, "..") == 0 || strcmp(part, ".") == 0) fail("the target %s has . or .. in it", path);
        int next = open_part(folder, part, kind, O_DIRECTORY);
        if (next < 0 && errno == ENOENT) make_part(folder, part, path, kind), next = open_part(folder, part, kind, O_DIRECTORY);
        if (next < 0 && (errno == ELOOP || errno == ENOTDIR)) fail("a part of the target %s is a link or not a folder", path);
        if (next < 0) fail("the target %s: %s", path, strerror(errno));
        close(folder);
        folder = next;
    }
    if (folder < 0) fail("the target %s: %s", path, strerror(errno));
    return folder;
}

/* A name in the folder `mounts` of the attempt, which only root can write. */
static int open_place(const char *name, int is_file)
{
    if (*name == '\0' || strchr(name, '/') != NULL || name[0] == '.') fail("the place %s is not a name", name);
    if (mkdirat(attempt, "mounts", 0711) != 0 && errno != EEXIST) fail("mounts: %s", strerror(errno));
    int above = call_openat2(attempt, "mounts", O_PATH | O_DIRECTORY, BENEATH | NO_SYMLINKS);
    if (above < 0) fail("mounts: %s", strerror(errno));
    int made = is_file ? mknodat(above, name, S_IFREG | 0600, 0) : mkdirat(above, name, 0700);
    int place = made != 0 && errno != EEXIST ? -1 : open_part(above, name, OWN_TARGET, is_file ? 0 : O_DIRECTORY);
    if (place < 0) fail("mounts/%s: %s", name, strerror(errno));
    close(above);
    return place;
}

void attach(int tree, const char *path, enum target_kind kind, int is_file)
{
    char found[PATH_MAX];
    int is_place = path[0] == '@';
    if (!is_place && kind == USER_TARGET) check_target(path, path);
    int target = is_place ? open_place(path + 1, is_file) : open_target(path, kind);
    if (!is_place && kind == USER_TARGET) {
        path_of(target, found, sizeof found);
        check_target(found, path);
    }
    if (call_move_mount(tree, target) != 0) fail("the mount at %s: %s", path, strerror(errno));
    close(target);
    close(tree);
}
