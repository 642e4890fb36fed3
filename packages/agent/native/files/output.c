/* What root's programs do to files and terminals of a user beside the user's job: copies of its output, and the size of a
   terminal. The process becomes the user and starts no program. A program would be one that the user can trace, and so act
   outside of the limits, networks and mounts of the job; this process stays closed to its user. */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK_BYTES = 64 * 1024, FIRST_PAUSE_MS = 1000, PAUSE_MS = 200 };

static int failed(const char *what, const char *path)
{
    dprintf(2, "lattice-files: output: %s %s: %s\n", what, path, strerror(errno));
    return 1;
}

/* A pipe without a reader must not hold up the job; a device is the user's choice. */
static int open_output(const char *path, int flags)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0666);
    if (file >= 0 && fcntl(file, F_SETFL, O_APPEND) != 0) return -1;
    return file;
}

/* The position belongs to the wrapper as well: a later copy begins where this one ended. */
static int copy_rest(int to)
{
    static char block[BLOCK_BYTES];
    for (;;) {
        off_t at = lseek(0, 0, SEEK_CUR);
        ssize_t got = at < 0 ? -1 : pread(0, block, sizeof block, at);
        if (got <= 0) return got == 0;
        if (!write_all(to, block, (size_t)got) || lseek(0, at + got, SEEK_SET) < 0) return 0;
    }
}

static void pause_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

/* In its first second a signal to the whole job may end it, before it has copied anything. Later none does. */
static int follow(pid_t sentinel, int to)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
    pause_ms(FIRST_PAUSE_MS);
    for (size_t at = 0; at < sizeof signals / sizeof signals[0]; at++) signal(signals[at], SIG_IGN);
    for (int ended = 0; !ended; pause_ms(ended ? 0 : PAUSE_MS)) {
        ended = kill(sentinel, 0) != 0 && errno == ESRCH;
        if (!copy_rest(to)) return 0;
    }
    return 1;
}

/* WHAT: `append` or `truncate`, which make the files; `follow PID` and `rest`, which copy standard input. */
static int write_output(char **words, int count)
{
    int truncates = strcmp(words[0], "truncate") == 0;
    if (truncates || strcmp(words[0], "append") == 0) {
        for (int at = 1; at < count; at++)
            if (open_output(words[at], truncates ? O_TRUNC : 0) < 0) return failed("cannot create", words[at]);
        return 0;
    }
    int follows = strcmp(words[0], "follow") == 0 && count == 3;
    if (!follows && (strcmp(words[0], "rest") != 0 || count != 2)) return 2;
    const char *path = words[count - 1];
    int to = open_output(path, 0);
    if (to < 0) return failed("cannot create", path);
    int done = follows ? follow(atoi(words[1]), to) : copy_rest(to);
    return done ? 0 : failed("cannot write to", path);
}

static int resize(char **words, int count)
{
    if (count != 3) return 2;
    struct winsize size = {.ws_row = (unsigned short)atoi(words[1]), .ws_col = (unsigned short)atoi(words[2])};
    int terminal = open(words[0], O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    return terminal >= 0 && ioctl(terminal, TIOCSWINSZ, &size) == 0 ? 0 : 1;
}

int run_command(char **words, int count)
{
    int writes = strcmp(words[0], "output") == 0;
    if ((!writes && strcmp(words[0], "resize") != 0) || count < 5) return 2;
    prctl(PR_SET_DUMPABLE, 0);
    if (become_user(words[1], words[2], words[3]) != 0) return failed("cannot become", words[1]);
    prctl(PR_SET_DUMPABLE, 0);
    return writes ? write_output(words + 4, count - 4) : resize(words + 4, count - 4);
}
