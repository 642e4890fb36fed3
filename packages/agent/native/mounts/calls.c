/* The kernel's calls, by number where the C library or its headers may lack them. */
#include "mounts.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

enum { FROM_EMPTY = 4, TO_EMPTY = 0x40, CLOEXEC_FLAG = 1, MOUNT_REC = 16384, MOUNT_SLAVE = 1 << 19 };

struct attributes {
    uint64_t set, clear, propagation, userns;
};

int call_open_tree(int folder, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, folder, path, flags | O_CLOEXEC | (*path == '\0' ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW));
}

int call_move_mount(int from, int to)
{
    return (int)syscall(SYS_move_mount, from, "", to, "", FROM_EMPTY | TO_EMPTY);
}

int call_fsopen(const char *type)
{
    return (int)syscall(SYS_fsopen, type, CLOEXEC_FLAG);
}

int call_fsconfig(int context, unsigned command, const char *key, const char *value)
{
    return (int)syscall(SYS_fsconfig, context, command, key, value, 0);
}

int call_fsmount(int context, unsigned attributes)
{
    return (int)syscall(SYS_fsmount, context, CLOEXEC_FLAG, attributes);
}

int call_mount_setattr(int tree, unsigned attributes)
{
    struct attributes wanted = {.set = attributes};
    return (int)syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &wanted, sizeof wanted);
}

int call_openat2(int folder, const char *path, int flags, unsigned resolve)
{
    struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve};
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/* By the effective ids, and without a C library that emulates it by the mode alone. */
int call_faccessat2(int folder, int mode)
{
    return (int)syscall(SYS_faccessat2, folder, "", mode, AT_EACCESS | AT_EMPTY_PATH);
}

void new_shared_memory(void)
{
    if (unshare(CLONE_NEWIPC) != 0) fail("shared memory of its own: %s", strerror(errno));
}

/* Mounts of the node still arrive (automounted homes); none leaves. */
void new_namespace(void)
{
    if (unshare(CLONE_NEWNS) != 0 || syscall(SYS_mount, "none", "/", NULL, MOUNT_REC | MOUNT_SLAVE, NULL) != 0)
        fail("a mount namespace: %s", strerror(errno));
}
