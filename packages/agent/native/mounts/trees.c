/* Prepares the trees that are mounted: each exists without a place before the first one gets its place, so that no
   program of root's runs in a changed view. */
#include "mounts.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOP_TRIES = 64, MAX_OPTIONS = 4096, LAST_BYTES = 4096 };

/* A user's source is opened once, with the user's rights; links are the user's own matter, those of /proc are not. */
static int open_source(const char *path, const char *target, int is_own, int *is_file)
{
    struct stat found;
    struct statfs system;
    if (!is_own) as_user();
    int source = call_openat2(AT_FDCWD, path, O_PATH, is_own ? NO_SYMLINKS : NO_MAGICLINKS), why = errno;
    if (source >= 0 && fstat(source, &found) != 0) why = errno, source = -1;
    *is_file = source >= 0 && S_ISREG(found.st_mode);
    if (source >= 0 && !is_own && !*is_file) {
        int tried = call_openat2(source, ".", O_RDONLY | O_DIRECTORY, BENEATH);
        if (tried < 0) why = errno, source = -1;
        else close(tried);
    }
    if (!is_own) as_root();
    if (source < 0 && why == ENOENT) fail("the source %s of %s does not exist on this node", path, target);
    if (source < 0 && why == EACCES) fail("%s may not read the source %s of %s", plan.has_user ? plan.user_name : "root", path, target);
    if (source < 0) fail("the source %s of %s: %s", path, target, strerror(why));
    if (!S_ISDIR(found.st_mode) && !(is_own && *is_file)) fail("the source %s of %s is not a folder", path, target);
    if (fstatfs(source, &system) != 0 || (!is_own && system.f_type == PROC_SUPER_MAGIC))
        fail("the source %s cannot be mounted", path);
    return source;
}

void restrict_tree(int tree, enum access access, const char *target)
{
    if (call_mount_setattr(tree, ATTR_NOSUID | ATTR_NODEV | (access == READ_ONLY ? ATTR_RDONLY : 0)) != 0)
        fail("the mount at %s: %s", target, strerror(errno));
}

void require_writable(int tree, const char *source)
{
    as_user();
    int allowed = call_faccessat2(tree, W_OK), why = errno;
    as_root();
    if (allowed == 0) return;
    const char *what = source == NULL ? "a remote source" : source;
    if (why != EACCES && why != EROFS) fail("%s: %s", what, strerror(why));
    fail("%s may not write to %s: mount it read-only, or a folder below it", plan.user_name, what);
}

int bind_tree(const char *path, const char *target, enum access access, int is_own, int *is_file)
{
    int source = open_source(path, target, is_own, is_file);
    int tree = call_open_tree(source, "", TREE_CLONE);
    if (tree < 0) fail("the source %s: %s", path, strerror(errno));
    restrict_tree(tree, access, target);
    close(source);
    return tree;
}

/* A folder of the attempt's own, below one that only root can enter by path: everybody's inside, as /tmp is. */
int private_tree(const char *target)
{
    const char *name = strcmp(target, "/tmp") == 0 ? "tmp" : strcmp(target, "/var/tmp") == 0 ? "var-tmp" : NULL;
    if (name == NULL) fail("%s cannot be private", target);
    if (mkdirat(attempt, "private", 0700) != 0 && errno != EEXIST) fail("private: %s", strerror(errno));
    int above = call_openat2(attempt, "private", O_PATH | O_DIRECTORY, BENEATH | NO_SYMLINKS);
    if (above < 0 || (mkdirat(above, name, 0700) != 0 && errno != EEXIST)) fail("private: %s", strerror(errno));
    int folder = call_openat2(above, name, O_RDONLY | O_DIRECTORY, BENEATH | NO_SYMLINKS);
    if (folder < 0 || fchmod(folder, 01777) != 0) fail("private: %s", strerror(errno));
    int tree = call_open_tree(folder, "", TREE_CLONE);
    if (tree < 0) fail("the mount at %s: %s", target, strerror(errno));
    restrict_tree(tree, READ_WRITE, target);
    close(folder);
    close(above);
    return tree;
}

/* Returns -1 with errno. */
static int new_mount(const char *type, const char *source, const char *options, unsigned attributes)
{
    char list[MAX_OPTIONS], *rest = list;
    int context = call_fsopen(type);
    if (context < 0 || strlen(options) >= sizeof list) return -1;
    strcpy(list, options);
    if (call_fsconfig(context, CONFIG_STRING, "source", source) != 0) return -1;
    for (char *one; (one = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(one, '=');
        if (value == NULL) continue;
        *value = '\0';
        if (call_fsconfig(context, CONFIG_STRING, one, value + 1) != 0) return -1;
    }
    if ((attributes & ATTR_RDONLY) != 0 && call_fsconfig(context, CONFIG_FLAG, "ro", NULL) != 0) return -1;
    if (call_fsconfig(context, CONFIG_CREATE, NULL, NULL) != 0) return -1;
    int tree = call_fsmount(context, attributes);
    close(context);
    return tree;
}

int memory_tree(const char *options)
{
    int tree = new_mount("tmpfs", "tmpfs", options, ATTR_NOSUID | ATTR_NODEV);
    if (tree < 0) fail("a file system in memory: %s", strerror(errno));
    return tree;
}

int limited_tree(const char *bytes)
{
    char options[64];
    size_t digits = strspn(bytes, "0123456789");
    if (digits == 0 || digits > 18 || *bytes == '0' || bytes[digits] != '\0') fail("the plan of mounts is damaged: a size");
    snprintf(options, sizeof options, "mode=1777,size=%s", bytes);
    return memory_tree(options);
}

/* The kernel releases the device with its last user. */
static int loop_device(int image, char *name, size_t size)
{
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (control < 0) fail("/dev/loop-control: %s", strerror(errno));
    for (int tries = 0; tries < LOOP_TRIES; tries++) {
        struct loop_config config = {.fd = image, .info = {.lo_flags = LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR}};
        int number = ioctl(control, LOOP_CTL_GET_FREE);
        snprintf(name, size, "/dev/loop%d", number);
        int device = number < 0 ? -1 : open(name, O_RDONLY | O_CLOEXEC);
        if (device < 0) fail("a loop device: %s", strerror(errno));
        if (ioctl(device, LOOP_CONFIGURE, &config) == 0) return close(control), device;
        close(device);
        if (errno != EBUSY) fail("a loop device: %s", strerror(errno));
    }
    fail("no loop device is free");
}

int image_tree(const char *file)
{
    char name[32];
    struct stat found;
    /* A pipe in its place must not stop the attempt. */
    int opened = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (opened < 0 || fstat(opened, &found) != 0) fail("%s: %s", file, strerror(errno));
    if (!S_ISREG(found.st_mode)) fail("%s is not a file", file);
    int device = loop_device(opened, name, sizeof name);
    int tree = new_mount("squashfs", name, "", ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
    if (tree < 0) fail("%s is not a squashfs image that can be mounted: %s", file, strerror(errno));
    close(device);
    close(opened);
    return tree;
}

/* The last line of a program's messages. */
static void last_line(int file, char *text, size_t size)
{
    char bytes[LAST_BYTES];
    struct stat found;
    off_t from = fstat(file, &found) == 0 && found.st_size > (off_t)sizeof bytes - 1 ? found.st_size - (off_t)sizeof bytes + 1 : 0;
    ssize_t length = pread(file, bytes, sizeof bytes - 1, from);
    while (length > 0 && bytes[length - 1] == '\n') length--;
    bytes[length > 0 ? length : 0] = '\0';
    const char *line = strrchr(bytes, '\n');
    snprintf(text, size, "%.*s", (int)size - 1, line == NULL ? bytes : line + 1);
}

static int path_in_attempt(const char *name, char *path, size_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", attempt);
    ssize_t length = readlink(link, path, size);
    if (length < 0 || (size_t)length + strlen(name) + 2 > size) return -1;
    snprintf(path + length, size - length, "/%s", name);
    return 0;
}

static void run(char **words, int errors)
{
    static char *variables[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};
    if (dup2(errors, 1) < 0 || dup2(errors, 2) < 0 || chdir("/") != 0) _exit(NOT_STARTED);
    execve(words[0], words, variables);
    dprintf(2, "%s: %s\n", words[0], strerror(errno));
    _exit(127);
}

/* The program mounts on a folder that only root can reach; {} among its words stands for the folder. */
int program_tree(const char *target, char **words, int count, enum access access)
{
    static int number;
    static char *list[MAX_FIELDS + 1];
    char place[PATH_MAX], folder[32], text[MAX_MESSAGE / 2];
    int status = 0;
    struct stat before, after;
    snprintf(folder, sizeof folder, "mount-%d", number++);
    if (mkdirat(attempt, folder, 0700) != 0 && errno != EEXIST) fail("%s: %s", folder, strerror(errno));
    if (path_in_attempt(folder, place, sizeof place) != 0) fail("%s: %s", folder, strerror(ENAMETOOLONG));
    for (int at = 0; at < count; at++) list[at] = strcmp(words[at], "{}") == 0 ? place : words[at];
    list[count] = NULL;
    if (fstatat(attempt, folder, &before, AT_SYMLINK_NOFOLLOW) != 0) fail("%s: %s", folder, strerror(errno));
    int errors = openat(attempt, "prologue.err", O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    pid_t child = errors < 0 ? -1 : fork();
    if (child == 0) run(list, errors);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    last_line(errors, text, sizeof text);
    if (child < 0 || status != 0) fail("the mount at %s: %s", target, text[0] == '\0' ? "its program failed" : text);
    int tree = call_open_tree(attempt, folder, 0);
    if (tree < 0 || fstat(tree, &after) != 0) fail("the mount at %s: %s", target, strerror(errno));
    if (before.st_dev == after.st_dev && before.st_ino == after.st_ino) fail("the mount at %s: its program mounted nothing", target);
    restrict_tree(tree, access, target);
    close(errors);
    return tree;
}
