/* Takes an attempt from root to its user: builds its view of the file system in a mount namespace that ends with its last
   process, and becomes the command, as the user and with the variables of the job. No path of a user's is followed
   twice: a source is opened once, as the user; a target is opened once, without links; both are joined by descriptor.
   Root's part has no variable of the job, and starts no program once a tree has its place.

     lattice-mounts PLAN COMMAND...

   PLAN is a file of root's with fields that end with a zero byte. These hold for the whole attempt:

     folder PATH                  the attempt's: a failure is written to `unlaunched` there, with its stage
     user UID GID GROUPS NAME     of the command; without it the command stays root's
     rights UID GID GROUPS NAME   instead: the command stays root's, and mounts what this user may read and write
     allow PATH, home PATH        where users may mount: below the first, exactly at the second
     protect PATH                 folders of the agent: nothing is mounted on them, below them or above them
     workdir PATH                 entered as the user
     variables COUNT NAME=VALUE.. the environment of the command
     confined                     nothing that the command starts can gain privileges
     enter                        `init.pid` is written: others may enter the namespace of the process

   And these are its mounts, all prepared first and then attached in this order. TARGET is a path, or @NAME for a name
   in the folder `mounts` of the attempt:

     private TARGET               an empty /tmp or /var/tmp, kept in the folder `private` of the attempt
     memory BYTES TARGET          an empty /tmp or /var/tmp in memory, of at most this size
     shared-memory                an empty /dev/shm, and System V memory of its own
     keep PATH                    a folder of the agent's that another mount would hide
     image FILE TARGET            a squashfs image, read-only
     bind ACCESS SOURCE TARGET    a folder that the user may read; ACCESS is ro or rw. At a @NAME a container engine may
                                  create folders in it as root, so rw requires that the user may write to it
     own ACCESS SOURCE TARGET     a folder or file whose path only root can change
     run ACCESS TARGET COUNT WORDS..  a program that mounts on the folder that replaces {} in its words
     secret FILE                  removed after the programs before it

   Other uses:

     lattice-mounts --check                    exit 0 where the kernel supports all of this, else the reason
     lattice-mounts --shared-memory COMMAND... with an empty /dev/shm of its own
     lattice-mounts --without PATH COMMAND...  with this mount point of the node hidden
     lattice-mounts --read-image IMAGE FILE MOST  the file of the image; exit 44 without it */
#include "mounts.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NO_FILE = 44, NOT_FOUND = 127, LAZY = 2 };
#define SHARED_MEMORY "/dev/shm"
#define MEMORY_OPTIONS "mode=1777"

extern char **environ;
int attempt = -1;
const char *stage = "mounts";

void fail(const char *format, ...)
{
    char text[MAX_MESSAGE + 1];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\n') *at = ' ';
    for (int at = 0; at < plan.step_count; at++)
        if (strcmp(plan.steps[at][0], "secret") == 0) unlink(plan.steps[at][1]);
    int file = attempt < 0 ? -1 : openat(attempt, "unlaunched", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) dprintf(file, "prologue %s %s\n", stage, text);
    else dprintf(2, "lattice-mounts: %s\n", text);
    exit(NOT_STARTED);
}

struct tree {
    int tree, is_file;
    const char *target, *stage;
    enum target_kind kind;
};

static enum access access_of(const char *word)
{
    if (strcmp(word, "ro") != 0 && strcmp(word, "rw") != 0) fail("the plan of mounts is damaged: access");
    return strcmp(word, "rw") == 0 ? READ_WRITE : READ_ONLY;
}

/* Returns a tree of -1 for a step that mounts nothing. */
static struct tree prepare(char **fields)
{
    const char *verb = fields[0];
    int is_own = strcmp(verb, "own") == 0;
    struct tree made = {-1, 0, "", "mounts", USER_TARGET};
    stage = strcmp(verb, "image") == 0 ? "uenv" : "mounts";
    made.stage = stage;
    if (strcmp(verb, "secret") == 0) return unlink(fields[1]), made;
    if (strcmp(verb, "shared-memory") == 0) new_shared_memory();
    if (strcmp(verb, "shared-memory") == 0) return (struct tree){memory_tree(MEMORY_OPTIONS), 0, SHARED_MEMORY, stage, OWN_TARGET};
    if (strcmp(verb, "memory") == 0) return (struct tree){limited_tree(fields[1]), 0, fields[2], stage, OWN_TARGET};
    if (strcmp(verb, "private") == 0) return (struct tree){private_tree(fields[1]), 0, fields[1], stage, OWN_TARGET};
    if (strcmp(verb, "image") == 0) return (struct tree){image_tree(fields[1]), 0, fields[2], stage, USER_TARGET};
    if (strcmp(verb, "keep") == 0) {
        made.target = fields[1];
        made.kind = OWN_TARGET;
        made.tree = bind_tree(fields[1], fields[1], READ_WRITE, 1, &made.is_file);
    } else if (is_own || strcmp(verb, "bind") == 0) {
        made.target = fields[3];
        made.kind = is_own ? OWN_TARGET : USER_TARGET;
        made.tree = bind_tree(fields[2], fields[3], access_of(fields[1]), is_own, &made.is_file);
    } else {
        made.target = fields[2];
        made.tree = program_tree(fields[2], fields + 4, step_size(fields, MAX_FIELDS) - 4, access_of(fields[1]));
    }
    if (*made.target == '@' && made.kind == USER_TARGET && access_of(fields[1]) == READ_WRITE)
        require_writable(made.tree, strcmp(verb, "bind") == 0 ? fields[2] : NULL);
    return made;
}

static void mount_all(void)
{
    static struct tree trees[MAX_TREES];
    if (plan.step_count == 0) return;
    new_namespace();
    open_attempt();
    for (int at = 0; at < plan.step_count; at++) trees[at] = prepare(plan.steps[at]);
    for (int at = 0; at < plan.step_count; at++) {
        if (trees[at].tree < 0) continue;
        stage = trees[at].stage;
        attach(trees[at].tree, trees[at].target, trees[at].kind, trees[at].is_file);
    }
}

static void enter_workdir(void)
{
    stage = "workdir";
    as_user();
    int entered = chdir(plan.workdir), why = errno;
    as_root();
    if (entered == 0) return;
    if (why == EACCES) fail("the working directory is not accessible to the user: %s", plan.workdir);
    if (why == ENOENT || why == ENOTDIR) fail("the working directory does not exist: %s", plan.workdir);
    fail("the working directory %s: %s", plan.workdir, strerror(why));
}

/* From then on others may enter the namespace: it is complete, and the process is in its working directory. */
static void announce(void)
{
    int file = openat(attempt, "init.pid", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0 || dprintf(file, "%d\n", getpid()) < 0) fail("init.pid: %s", strerror(errno));
    close(file);
}

/* Messages and exit codes of a shell. */
static __attribute__((noreturn)) void become(char **command)
{
    execvp(command[0], command);
    int why = errno;
    dprintf(2, "%s: %s\n", command[0], why == ENOENT ? "not found" : strerror(why));
    exit(why == ENOENT ? NOT_FOUND : NOT_STARTED);
}

static void by_plan(const char *path, char **command)
{
    clearenv();
    mode_t mask = umask(0);
    read_plan(path);
    mount_all();
    if (plan.workdir != NULL) enter_workdir();
    stage = "user";
    umask(mask);
    if (plan.enters) announce();
    if (plan.has_user && !plan.stays_root) become_user();
    if (plan.is_confined && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("privileges: %s", strerror(errno));
    char **variables = calloc((size_t)plan.variable_count + 1, sizeof *variables);
    if (variables == NULL) fail("variables: %s", strerror(errno));
    for (int at = 0; at < plan.variable_count; at++) variables[at] = plan.variables[at];
    environ = variables;
    become(command);
}

static void read_image(const char *image, const char *path, size_t most)
{
    char *bytes = malloc(most + 1);
    size_t length = 0, sent = 0;
    int file = call_openat2(image_tree(image), path, O_RDONLY | O_NONBLOCK | O_NOCTTY, IN_ROOT | NO_SYMLINKS);
    struct stat found;
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) exit(NO_FILE);
    if (file < 0 || fstat(file, &found) != 0 || bytes == NULL) fail("%s in the image: %s", path, strerror(errno));
    if (!S_ISREG(found.st_mode)) fail("%s in the image is not a file", path);
    for (ssize_t got; length <= most && (got = read(file, bytes + length, most + 1 - length)) > 0;) length += (size_t)got;
    if (length > most) fail("%s in the image has more than %zu bytes", path, most);
    for (ssize_t put; sent < length && (put = write(1, bytes + sent, length - sent)) > 0;) sent += (size_t)put;
    exit(sent == length ? 0 : NOT_STARTED);
}

static void shared_memory(void)
{
    int tree = memory_tree(MEMORY_OPTIONS);
    attach(tree, SHARED_MEMORY, OWN_TARGET, 0);
}

int main(int count, char **words)
{
    if (count >= 3 && words[1][0] != '-') by_plan(words[1], words + 2);
    if (count == 2 && strcmp(words[1], "--check") == 0) {
        new_namespace();
        shared_memory();
        return 0;
    }
    if (count == 5 && strcmp(words[1], "--read-image") == 0) read_image(words[2], words[3], strtoul(words[4], NULL, 10));
    if (count >= 3 && strcmp(words[1], "--shared-memory") == 0) {
        new_namespace();
        shared_memory();
        become(words + 2);
    }
    if (count >= 4 && strcmp(words[1], "--without") == 0) {
        new_namespace();
        if (syscall(SYS_umount2, words[2], LAZY) != 0) fail("%s: %s", words[2], strerror(errno));
        become(words + 3);
    }
    dprintf(2, "usage: lattice-mounts PLAN COMMAND...\n");
    return NOT_STARTED;
}
