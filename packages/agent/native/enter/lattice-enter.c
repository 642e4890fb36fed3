/* Enters an attempt: joins the namespaces of one of its processes, becomes its user with its groups, drops capabilities
   that the process lacks, applies its seccomp filters, and becomes the command with the variables of the job. One process
   does all of it, since a later program would have to exist in the image.

     lattice-enter --target=PID [--mount --uts --ipc --net --pid --cgroup --user] [--workdir]
                   [--setuid=UID --setgid=GID --groups=N,N] [--filters=FILE] [--variables=DESCRIPTOR] -- COMMAND...
     lattice-enter --target=PID [--setuid=UID] --save-filters=FILE

   The user is the one that the attempt was started as, and never read from the process: that could be a setuid program for
   a moment. Unless all uids of the process are that user's, nothing is joined. With --mount the command begins in the
   root and the working directory of the process, with --workdir in its working directory; both are entered as the user.
   The parent-death signal (PR_SET_PDEATHSIG) is restored, because the change of user clears it. */
#include "enter.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_GROUPS = 65536, MAX_SPACES = 8, JOIN_SESSION_KEYRING = 1, NOT_ENTERED = 126, NOT_FOUND = 127 };

extern char **environ;

struct wanted {
    int target, space_count, has_owner, has_mounts, has_user_space, keeps_workdir, variables;
    const char *spaces[MAX_SPACES], *groups, *filters, *save;
    uid_t uid;
    gid_t gid;
};

/* What is opened of the process while the node's /proc is still visible. */
struct opened {
    int root, workdir, user_space, spaces[MAX_SPACES];
};

void fail(const char *what)
{
    fprintf(stderr, "cannot enter the allocation: %s: %s\n", what, strerror(errno));
    exit(NOT_ENTERED);
}

void refuse(const char *why)
{
    fprintf(stderr, "cannot enter the allocation: %s\n", why);
    exit(NOT_ENTERED);
}

/* Returns the value of an option with this name, or NULL. */
static const char *value(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 ? word + length : NULL;
}

static int space_word(struct wanted *wanted, const char *word)
{
    static const char *known[][2] = {{"--mount", "ns/mnt"}, {"--uts", "ns/uts"}, {"--ipc", "ns/ipc"}, {"--net", "ns/net"},
                                     {"--pid", "ns/pid"},   {"--cgroup", "ns/cgroup"}};
    for (size_t at = 0; at < sizeof known / sizeof known[0]; at++) {
        if (strcmp(word, known[at][0]) != 0 || wanted->space_count == MAX_SPACES) continue;
        wanted->spaces[wanted->space_count++] = known[at][1];
        wanted->has_mounts |= at == 0;
        return 1;
    }
    return 0;
}

static unsigned parse_id(const char *text)
{
    char *end;
    errno = 0;
    unsigned long long id = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || id >= 4294967295ULL) refuse("its user is no number");
    return (unsigned)id;
}

static int read_word(struct wanted *wanted, const char *word)
{
    const char *text;
    if (space_word(wanted, word)) return 1;
    if ((text = value(word, "--target="))) wanted->target = atoi(text);
    else if ((text = value(word, "--setuid="))) wanted->uid = parse_id(text), wanted->has_owner = 1;
    else if ((text = value(word, "--setgid="))) wanted->gid = parse_id(text);
    else if ((text = value(word, "--groups="))) wanted->groups = text;
    else if ((text = value(word, "--filters="))) wanted->filters = text;
    else if ((text = value(word, "--save-filters="))) wanted->save = text;
    else if ((text = value(word, "--variables="))) wanted->variables = atoi(text);
    else if (strcmp(word, "--user") == 0) wanted->has_user_space = 1;
    else if (strcmp(word, "--workdir") == 0) wanted->keeps_workdir = 1;
    else return 0;
    return 1;
}

static int open_below(int process, const char *name, int flags)
{
    int opened = openat(process, name, flags | O_CLOEXEC);
    if (opened < 0) fail(name);
    return opened;
}

/* The folders are opened by name only (O_PATH): a file system of the user's is not asked. */
static struct opened open_all(int process, const struct wanted *wanted)
{
    struct opened all = {-1, -1, -1, {0}};
    if (wanted->has_mounts) all.root = open_below(process, "root", O_PATH | O_DIRECTORY);
    if (wanted->has_mounts || wanted->keeps_workdir) all.workdir = open_below(process, "cwd", O_PATH | O_DIRECTORY);
    if (wanted->has_user_space) all.user_space = open_below(process, "ns/user", O_RDONLY);
    for (int at = 0; at < wanted->space_count; at++) all.spaces[at] = open_below(process, wanted->spaces[at], O_RDONLY);
    return all;
}

static void join_spaces(const struct wanted *wanted, const struct opened *all)
{
    for (int at = 0; at < wanted->space_count; at++)
        if (setns(all->spaces[at], 0) != 0) fail(wanted->spaces[at]);
    if (all->root >= 0 && (fchdir(all->root) != 0 || chroot(".") != 0 || chdir("/") != 0)) fail("its files");
}

static void become(const struct wanted *wanted)
{
    static gid_t groups[MAX_GROUPS];
    uid_t uids[3];
    gid_t gids[3];
    size_t count = 0;
    for (const char *at = wanted->groups; at && *at && count < MAX_GROUPS; at++) {
        groups[count++] = strtoul(at, (char **)&at, 10);
        if (*at != ',') break;
    }
    if (setgroups(count, groups) != 0) fail("its groups");
    if (setresgid(wanted->gid, wanted->gid, wanted->gid) != 0) fail("its group");
    if (setresuid(wanted->uid, wanted->uid, wanted->uid) != 0) fail("its user");
    if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 || getresgid(&gids[0], &gids[1], &gids[2]) != 0) fail("its user");
    for (int at = 0; at < 3; at++)
        if (uids[at] != wanted->uid || gids[at] != wanted->gid) refuse("its user: the ids did not change");
    if (wanted->uid != 0 && setuid(0) == 0) refuse("its user: root can be regained");
    /* The agent's keyring is not for users, and each other's neither. */
    if (syscall(SYS_keyctl, JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS && errno != EPERM) fail("its session keyring");
}

/* The namespace is the user's own, so the user may join it, and stays the same user of the node. The agent's own user
   becomes the root of the namespace. */
static void join_user_space(const struct wanted *wanted, const struct opened *all)
{
    if (!wanted->has_user_space) return;
    if (!wanted->has_owner && setgroups(0, NULL) != 0) fail("its groups");
    if (setns(all->user_space, CLONE_NEWUSER) != 0) fail("its user namespace");
    if (!wanted->has_owner && (setresgid(0, 0, 0) != 0 || setresuid(0, 0, 0) != 0)) fail("its user namespace");
}

static void keep_capabilities(unsigned long long kept)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{(unsigned)kept, (unsigned)kept, 0},
                                             {(unsigned)(kept >> 32), (unsigned)(kept >> 32), 0}};
    if (syscall(SYS_capset, &header, data) != 0) fail("its capabilities");
}

static void drop_bounding(unsigned long long bounding)
{
    for (int capability = 0; capability < 64; capability++) {
        if (bounding >> capability & 1) continue;
        if (prctl(PR_CAPBSET_DROP, capability) != 0 && errno != EINVAL) fail("its capabilities");
    }
}

static void enter_workdir(const struct opened *all)
{
    if (all->workdir < 0 || fchdir(all->workdir) == 0) return;
    fprintf(stderr, "the working directory of the allocation cannot be entered: %s\n", strerror(errno));
    if (chdir("/") != 0) fail("/");
}

static void enter(const struct wanted *wanted)
{
    const uid_t *owner = wanted->has_owner ? &wanted->uid : NULL;
    int process = open_process(wanted->target);
    status_of(process, owner);
    struct opened all = open_all(process, wanted);
    struct status status = status_of(process, owner);
    join_spaces(wanted, &all);
    drop_bounding(status.bounding);
    if (wanted->has_owner) become(wanted);
    join_user_space(wanted, &all);
    if (!wanted->has_user_space) keep_capabilities(wanted->has_owner ? 0 : status.effective);
    enter_workdir(&all);
    if (status.no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no new privileges");
}

int main(int count, char **words)
{
    struct wanted wanted = {.variables = -1};
    int at = 1, death = 0;
    pid_t parent = getppid();
    for (; at < count && strcmp(words[at], "--") != 0; at++) {
        if (read_word(&wanted, words[at])) continue;
        fprintf(stderr, "lattice-enter: unknown word %s\n", words[at]);
        return NOT_ENTERED;
    }
    if (wanted.save) return save_filters(wanted.target, wanted.has_owner ? &wanted.uid : NULL, wanted.save);
    if (wanted.target <= 0 || at + 1 >= count) return NOT_ENTERED;
    char **command = &words[at + 1], **variables = wanted.variables < 0 ? environ : read_variables(wanted.variables);
    prctl(PR_GET_PDEATHSIG, &death);
    int filters = wanted.filters ? open(wanted.filters, O_RDONLY | O_CLOEXEC) : -1;
    if (wanted.filters && filters < 0) fail(wanted.filters);
    enter(&wanted);
    if (death != 0) {
        prctl(PR_SET_PDEATHSIG, death);
        /* The parent may have died meanwhile. */
        if (getppid() != parent) raise(death);
    }
    if (filters >= 0) load_filters(filters);
    environ = variables;
    execvp(command[0], command);
    int why = errno;
    fprintf(stderr, "%s: %s\n", command[0], strerror(why));
    return why == ENOENT ? NOT_FOUND : NOT_ENTERED;
}
