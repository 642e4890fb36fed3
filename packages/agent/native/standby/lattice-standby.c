/* Keeps processes warm for attempts: the same as the shell script in src/runtime/attempt/warm-script.ts, with one process
   less per attempt. Each wrapper leads its own session; this process remains the parent and reports its exit.

     lattice-standby WRAPPER    (lines on standard input: "+ NAME [FILE]")

   Standard input is read byte by byte, because the lines that follow belong to the wrapper. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 8192, NOT_STARTED = 126 };

/* Returns the length of the next line without its newline, or -1 at the end. A line that is too long is skipped. */
static int next_line(char *line)
{
    int length = 0;
    for (;;) {
        char byte;
        ssize_t got = read(0, &byte, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        if (byte == '\n') break;
        if (length < LINE_MAX_BYTES) line[length++] = byte;
    }
    if (length == LINE_MAX_BYTES) length = 0;
    line[length] = '\0';
    return length;
}

static int run(const char *wrapper, const char *name, const char *file)
{
    pid_t child = fork();
    if (child == 0) {
        setsid();
        execl("/bin/sh", "/bin/sh", wrapper, name, file, (char *)NULL);
        _exit(NOT_STARTED);
    }
    if (child < 0) return NOT_STARTED;
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return NOT_STARTED;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A service manager protects the agent from the OOM killer; its jobs must not inherit that. Set by root, the user cannot
   lower it again. */
static void drop_oom_protection(void)
{
    char text[16] = "";
    int file = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    if (read(file, text, sizeof text - 1) > 0 && atoi(text) < 0 && pwrite(file, "0", 1, 0) != 1)
        dprintf(2, "lattice-standby: oom_score_adj: %s\n", strerror(errno));
    close(file);
}

int main(int count, char **words)
{
    static char line[LINE_MAX_BYTES + 1];
    if (count != 2) return 2;
    drop_oom_protection();
    while (next_line(line) >= 0) {
        if (strncmp(line, "+ ", 2) != 0) continue;
        char *name = line + 2;
        char *space = strchr(name, ' ');
        if (space != NULL) *space = '\0';
        if (dprintf(1, "ended %d\n", run(words[1], name, space == NULL ? "" : space + 1)) < 0) return 1;
    }
    return 0;
}
