/* Builds an attempt's view of the file system, in a mount namespace of its own that ends with the last process in it,
   and then becomes the command. No path of a user's is followed twice: a source is opened once, as the user; a target
   is opened once, without links; both are joined by descriptor.

     lattice-mounts PLAN FOLDER UID GID GROUPS PROTECTED -- COMMAND...

   PLAN is a file of root's with fields that end with a zero byte, in order of execution:

     tmpfs  TARGET OPTIONS                 an empty file system in memory
     image  FILE TARGET                    a squashfs image, read-only
     bind   ACCESS SOURCE TARGET           a folder that the user may read; ACCESS is ro or rw
     own    ACCESS SOURCE TARGET           a folder of root's, such as the attempt's own /tmp
     run    TARGET COUNT WORDS...          a program that mounts on the folder that replaces {} in its words
     secret FILE                           a file that is removed now

   FOLDER is the attempt's. `init.pid` there is written when everything is mounted, if PLAN ends with "enter". A failure
   is written to `unlaunched` there, with its stage. Targets at or below PROTECTED (paths, joined by ":") are refused. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/loop.h>
#include <linux/openat2.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PLAN = 1024 * 1024, MAX_FIELDS = 4096, MAX_GROUPS = 65536, LOOP_TRIES = 64, MAX_MESSAGE = 400 };

static uid_t uid;
static gid_t gid, groups[MAX_GROUPS];
static size_t group_count;
static const char *stage = "mounts", *protected_paths = "";
static int attempt = -1;

static void fail(const char *format, ...)
{
    char text[MAX_MESSAGE + 1];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\n') *at = ' ';
    int file = openat(attempt, "unlaunched", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) dprintf(file, "prologue %s %s\n", stage, text);
    exit(1);
}

/* Effective ids only: the process stays root's to everyone else. */
static void as_user(void)
{
    if (setgroups(group_count, groups) != 0 || setegid(gid) != 0 || seteuid(uid) != 0) fail("change of user: %s", strerror(errno));
}

static void as_root(void)
{
    if (seteuid(0) != 0 || setegid(0) != 0 || setgroups(0, NULL) != 0) fail("change of user: %s", strerror(errno));
}

static int open_source(const char *path, int is_own)
{
    struct stat found;
    if (!is_own) as_user();
    int source = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | (is_own ? O_NOFOLLOW : 0));
    int why = errno;
    if (source >= 0 && !is_own && faccessat(source, ".", R_OK | X_OK, AT_EACCESS) != 0) why = errno, source = -1;
    if (!is_own) as_root();
    if (source < 0) fail("the source %s: %s", path, strerror(why));
    if (fstat(source, &found) != 0 || !S_ISDIR(found.st_mode)) fail("the source %s is not a folder", path);
    return source;
}

/* A missing folder is made by root below folders that only root can write, and by the user elsewhere. */
static int make_part(int parent, const char *name, const char *path)
{
    struct stat found;
    if (fstat(parent, &found) != 0) fail("%s: %s", path, strerror(errno));
    int is_own = found.st_uid == 0 && (found.st_mode & 022) == 0;
    if (!is_own) as_user();
    int made = mkdirat(parent, name, 0755), why = errno;
    if (!is_own) as_root();
    if (made != 0 && why != EEXIST) fail("%s cannot be made for the mount: %s", path, strerror(why));
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int folder = (int)syscall(SYS_openat2, parent, name, &how, sizeof how);
    if (folder < 0) fail("%s: %s", path, strerror(errno));
    return folder;
}

/* Returns the length of the path. */
static int path_of(int folder, char *path, size_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0) fail("%s: %s", link, strerror(errno));
    path[length] = '\0';
    return (int)length;
}

static void refuse_protected(int target, const char *path)
{
    char found[PATH_MAX], list[PATH_MAX], *rest = list;
    path_of(target, found, sizeof found);
    snprintf(list, sizeof list, "%s", protected_paths);
    for (char *one; (one = strsep(&rest, ":")) != NULL;) {
        size_t size = strlen(one);
        if (size == 0 || strncmp(found, one, size) != 0 || (found[size] != '\0' && found[size] != '/')) continue;
        fail("%s belongs to the agent and cannot be mounted over", path);
    }
}

/* Each part of the path is a folder, never a link. */
static int open_target(const char *path)
{
    char copy[PATH_MAX], *rest = copy + 1;
    if (path[0] != '/' || strlen(path) >= sizeof copy) fail("the target %s is not an absolute path", path);
    strcpy(copy, path);
    int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (char *part; folder >= 0 && (part = strsep(&rest, "/")) != NULL;) {
        struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                               .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
        if (*part == '\0') continue;
        int next = (int)syscall(SYS_openat2, folder, part, &how, sizeof how);
        if (next < 0 && errno == ENOENT) next = make_part(folder, part, path);
        if (next < 0 && (errno == ELOOP || errno == ENOTDIR)) fail("a part of the target %s is a link or not a folder", path);
        if (next < 0) fail("the target %s: %s", path, strerror(errno));
        close(folder);
        folder = next;
    }
    if (folder < 0) fail("the target %s: %s", path, strerror(errno));
    return folder;
}

static void attach(int tree, const char *path)
{
    int target = open_target(path);
    refuse_protected(target, path);
    if (move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0)
        fail("the mount at %s: %s", path, strerror(errno));
    close(target);
    close(tree);
}

static int copy_of(int source, int is_read_only, const char *path)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (is_read_only ? MOUNT_ATTR_RDONLY : 0)};
    int tree = open_tree(source, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
    if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0)
        fail("the mount at %s: %s", path, strerror(errno));
    return tree;
}

static void bind(const char *access, const char *from, const char *to, int is_own)
{
    int source = open_source(from, is_own);
    attach(copy_of(source, strcmp(access, "rw") != 0, to), to);
    close(source);
}

/* Mounts a new file system without a place, so that it can be attached by descriptor. */
static int new_mount(const char *type, const char *source, const char *options, unsigned attributes)
{
    char list[256], *rest = list;
    int context = fsopen(type, FSOPEN_CLOEXEC);
    snprintf(list, sizeof list, "%s", options);
    if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "source", source, 0) != 0) return -1;
    for (char *one; (one = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(one, '=');
        if (value == NULL) continue;
        *value = '\0';
        if (fsconfig(context, FSCONFIG_SET_STRING, one, value + 1, 0) != 0) return -1;
    }
    if (attributes & MOUNT_ATTR_RDONLY && fsconfig(context, FSCONFIG_SET_FLAG, "ro", NULL, 0) != 0) return -1;
    if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0) return -1;
    return fsmount(context, FSMOUNT_CLOEXEC, attributes);
}

static void memory(const char *to, const char *options)
{
    int tree = new_mount("tmpfs", "tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (tree < 0) fail("%s: %s", to, strerror(errno));
    attach(tree, to);
}

/* The device is released by the kernel with its last user. */
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
    return -1;
}

static void image(const char *file, const char *to)
{
    char name[32];
    stage = "uenv";
    int opened = open(file, O_RDONLY | O_CLOEXEC);
    if (opened < 0) fail("%s: %s", file, strerror(errno));
    int device = loop_device(opened, name, sizeof name);
    int tree = new_mount("squashfs", name, "", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (tree < 0) fail("%s is not a squashfs image that can be mounted: %s", file, strerror(errno));
    attach(tree, to);
    close(device);
    close(opened);
    stage = "mounts";
}

/* The last line of a program's messages. */
static void last_line(int from, char *text, size_t size)
{
    char bytes[4096];
    size_t length = 0;
    for (ssize_t got; (got = read(from, bytes + length, sizeof bytes - 1 - length)) > 0;) {
        length += got;
        if (length < sizeof bytes - 1) continue;
        memmove(bytes, bytes + length / 2, length - length / 2);
        length -= length / 2;
    }
    while (length > 0 && bytes[length - 1] == '\n') length--;
    bytes[length] = '\0';
    char *line = strrchr(bytes, '\n');
    line = line == NULL ? bytes : line + 1;
    length = strnlen(line, size - 1);
    memcpy(text, line, length);
    text[length] = '\0';
}

/* Runs in a folder of root's that nothing else knows; what it mounted there is then moved to the target. */
static void run(const char *to, char **words, int count)
{
    static int number;
    char place[PATH_MAX], folder[64], text[MAX_MESSAGE / 2], *list[MAX_FIELDS], *none[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
    int pipes[2], status;
    snprintf(folder, sizeof folder, "mount-%d", number++);
    if (mkdirat(attempt, folder, 0700) != 0 && errno != EEXIST) fail("%s: %s", folder, strerror(errno));
    int above = path_of(attempt, place, sizeof place - sizeof folder);
    snprintf(place + above, sizeof place - above, "/%s", folder);
    for (int at = 0; at < count; at++) list[at] = strcmp(words[at], "{}") == 0 ? place : words[at];
    list[count] = NULL;
    if (pipe2(pipes, O_CLOEXEC) != 0) fail("pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], 1);
        dup2(pipes[1], 2);
        execve(list[0], list, none);
        dprintf(2, "%s: %s\n", list[0], strerror(errno));
        _exit(127);
    }
    close(pipes[1]);
    last_line(pipes[0], text, sizeof text);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("the mount at %s: %s", to, text);
    int tree = open_tree(AT_FDCWD, place, OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
    if (tree < 0) fail("the mount at %s: %s", to, strerror(errno));
    attach(tree, to);
    close(pipes[0]);
}

static void read_groups(char *text)
{
    for (char *one; (one = strsep(&text, ",")) != NULL && group_count < MAX_GROUPS;)
        if (*one != '\0') groups[group_count++] = strtoul(one, NULL, 10);
}

static int read_plan(const char *path, char **fields)
{
    static char bytes[MAX_PLAN];
    size_t length = 0;
    int count = 0, file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) fail("%s: %s", path, strerror(errno));
    for (ssize_t got; (got = read(file, bytes + length, sizeof bytes - length)) > 0;) length += got;
    if (length == sizeof bytes || (length > 0 && bytes[length - 1] != '\0')) fail("the plan of mounts is damaged");
    for (char *at = bytes; at < bytes + length && count < MAX_FIELDS; at += strlen(at) + 1) fields[count++] = at;
    return count;
}

/* Returns the number of fields that the step had. */
static int step(char **fields, int left)
{
    const char *verb = fields[0];
    if (strcmp(verb, "tmpfs") == 0 && left >= 3) return memory(fields[1], fields[2]), 3;
    if (strcmp(verb, "image") == 0 && left >= 3) return image(fields[1], fields[2]), 3;
    if (strcmp(verb, "bind") == 0 && left >= 4) return bind(fields[1], fields[2], fields[3], 0), 4;
    if (strcmp(verb, "own") == 0 && left >= 4) return bind(fields[1], fields[2], fields[3], 1), 4;
    if (strcmp(verb, "secret") == 0 && left >= 2) return unlink(fields[1]), 2;
    int count = strcmp(verb, "run") == 0 && left >= 4 ? atoi(fields[2]) : 0;
    if (count < 1 || count + 3 > left) fail("the plan of mounts is damaged");
    run(fields[1], fields + 3, count);
    return 3 + count;
}

int main(int count, char **words)
{
    static char *fields[MAX_FIELDS];
    if (count < 9 || strcmp(words[7], "--") != 0) return 126;
    attempt = open(words[2], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (attempt < 0) return 126;
    uid = strtoul(words[3], NULL, 10);
    gid = strtoul(words[4], NULL, 10);
    read_groups(words[5]);
    protected_paths = words[6];
    int left = read_plan(words[1], fields), at = 0, enters = 0;
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        fail("a mount namespace: %s", strerror(errno));
    while (at < left) {
        if (strcmp(fields[at], "enter") == 0) {
            enters = 1;
            at++;
        } else {
            at += step(fields + at, left - at);
        }
    }
    if (enters) {
        int file = openat(attempt, "init.pid", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file < 0 || dprintf(file, "%d\n", getpid()) < 0) fail("init.pid: %s", strerror(errno));
        close(file);
    }
    execv(words[8], words + 8);
    fail("%s: %s", words[8], strerror(errno));
}
