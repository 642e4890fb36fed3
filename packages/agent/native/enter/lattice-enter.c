/* Enters an attempt that has its own files: joins the namespaces of one of its processes, becomes its user with its groups,
   drops capabilities that the process lacks, applies its seccomp filters, and becomes the command. One process does all of
   it, since a later program would have to exist in the image.

     lattice-enter --target=PID [--mount --uts --ipc --net --pid --cgroup] [--setuid=UID --setgid=GID --groups=N,N]
                   [--bounding=HEX --effective=HEX] [--no-new-privs] [--filters=FILE] -- COMMAND...
     lattice-enter --target=PID --save-filters=FILE

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

enum { MAX_GROUPS = 65536, MAX_SPACES = 8, NOT_ENTERED = 126 };

struct wanted {
    int target, space_count, has_owner, has_capabilities, no_new_privileges;
    const char *spaces[MAX_SPACES], *groups, *filters, *save;
    uid_t uid;
    gid_t gid;
    unsigned long long bounding, effective;
};

void fail(const char *what)
{
    fprintf(stderr, "cannot enter the allocation: %s: %s\n", what, strerror(errno));
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
    static const char *known[][2] = {{"--mount", "mnt"}, {"--uts", "uts"}, {"--ipc", "ipc"}, {"--net", "net"},
                                     {"--pid", "pid"},   {"--cgroup", "cgroup"}};
    for (size_t at = 0; at < sizeof known / sizeof known[0]; at++) {
        if (strcmp(word, known[at][0]) != 0 || wanted->space_count == MAX_SPACES) continue;
        wanted->spaces[wanted->space_count++] = known[at][1];
        return 1;
    }
    return 0;
}

static int read_word(struct wanted *wanted, const char *word)
{
    const char *text;
    if (space_word(wanted, word)) return 1;
    if ((text = value(word, "--target="))) wanted->target = atoi(text);
    else if ((text = value(word, "--setuid="))) wanted->uid = strtoul(text, NULL, 10), wanted->has_owner = 1;
    else if ((text = value(word, "--setgid="))) wanted->gid = strtoul(text, NULL, 10);
    else if ((text = value(word, "--groups="))) wanted->groups = text;
    else if ((text = value(word, "--bounding="))) wanted->bounding = strtoull(text, NULL, 16), wanted->has_capabilities = 1;
    else if ((text = value(word, "--effective="))) wanted->effective = strtoull(text, NULL, 16);
    else if ((text = value(word, "--filters="))) wanted->filters = text;
    else if ((text = value(word, "--save-filters="))) wanted->save = text;
    else if (strcmp(word, "--no-new-privs") == 0) wanted->no_new_privileges = 1;
    else return 0;
    return 1;
}

static int open_of(int target, const char *name, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", target, name);
    int opened = open(path, flags | O_CLOEXEC);
    if (opened < 0) fail(path);
    return opened;
}

/* All are opened while the node's /proc is still visible. */
static void join_spaces(const struct wanted *wanted)
{
    int opened[MAX_SPACES], root = open_of(wanted->target, "root", O_RDONLY | O_DIRECTORY);
    int folder = open_of(wanted->target, "cwd", O_RDONLY | O_DIRECTORY);
    for (int at = 0; at < wanted->space_count; at++) {
        char name[16];
        snprintf(name, sizeof name, "ns/%s", wanted->spaces[at]);
        opened[at] = open_of(wanted->target, name, O_RDONLY);
    }
    for (int at = 0; at < wanted->space_count; at++)
        if (setns(opened[at], 0) != 0) fail(wanted->spaces[at]);
    if (fchdir(root) != 0 || chroot(".") != 0 || fchdir(folder) != 0) fail("its files");
}

static void become(const struct wanted *wanted)
{
    static gid_t groups[MAX_GROUPS];
    size_t count = 0;
    for (const char *at = wanted->groups; at && *at && count < MAX_GROUPS; at++) {
        groups[count++] = strtoul(at, (char **)&at, 10);
        if (*at != ',') break;
    }
    if (setgroups(count, groups) != 0) fail("its groups");
    if (setresgid(wanted->gid, wanted->gid, wanted->gid) != 0) fail("its group");
    if (setresuid(wanted->uid, wanted->uid, wanted->uid) != 0) fail("its user");
}

static void keep_capabilities(const struct wanted *wanted)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    unsigned long long kept = wanted->effective;
    struct __user_cap_data_struct data[2] = {{(unsigned)kept, (unsigned)kept, 0},
                                             {(unsigned)(kept >> 32), (unsigned)(kept >> 32), 0}};
    if (syscall(SYS_capset, &header, data) != 0 && (geteuid() == 0 || kept != 0)) fail("its capabilities");
}

static void drop_bounding(unsigned long long bounding)
{
    for (int capability = 0; capability < 64; capability++) {
        if (bounding >> capability & 1) continue;
        if (prctl(PR_CAPBSET_DROP, capability) != 0 && errno != EINVAL) fail("its capabilities");
    }
}

int main(int count, char **words)
{
    struct wanted wanted = {0};
    int at = 1, death = 0;
    pid_t parent = getppid();
    for (; at < count && strcmp(words[at], "--") != 0; at++) {
        if (read_word(&wanted, words[at])) continue;
        fprintf(stderr, "lattice-enter: unknown word %s\n", words[at]);
        return NOT_ENTERED;
    }
    if (wanted.save) return save_filters(wanted.target, wanted.save);
    if (wanted.target <= 0 || at + 1 >= count) return NOT_ENTERED;
    prctl(PR_GET_PDEATHSIG, &death);
    int filters = wanted.filters ? open(wanted.filters, O_RDONLY | O_CLOEXEC) : -1;
    if (wanted.filters && filters < 0) fail(wanted.filters);
    join_spaces(&wanted);
    if (wanted.has_capabilities) drop_bounding(wanted.bounding);
    if (wanted.has_owner) become(&wanted);
    if (wanted.has_capabilities) keep_capabilities(&wanted);
    if (wanted.no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no new privileges");
    if (death != 0) {
        prctl(PR_SET_PDEATHSIG, death);
        /* The parent may have died meanwhile. */
        if (getppid() != parent) raise(death);
    }
    if (filters >= 0) load_filters(filters);
    execvp(words[at + 1], &words[at + 1]);
    int why = errno;
    fprintf(stderr, "%s: %s\n", words[at + 1], strerror(why));
    return why == ENOENT ? 127 : NOT_ENTERED;
}
