/* The process to enter: opened once, and checked to run as the user whose attempt it is. */
#include "enter.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_STATUS = 64 * 1024 };

int open_process(int target)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", target);
    int process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process < 0) fail(path);
    return process;
}

/* Returns what follows the name of a field at the start of a line. The name of the program is escaped in one line. */
static const char *field(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        if (*at == '\n') at++;
        if (strncmp(at, name, length) == 0 && at[length] == ':') return at + length + 1;
    }
    errno = EINVAL;
    fail("the status of its first process");
}

struct status status_of(int process, const uid_t *owner)
{
    static char text[MAX_STATUS];
    struct status found;
    size_t length = 0;
    ssize_t got = 0;
    int file = openat(process, "status", O_RDONLY | O_CLOEXEC);
    if (file < 0) fail("its first process");
    while (length < sizeof text - 1 && (got = read(file, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    close(file);
    if (got < 0 || length == 0) fail("its first process");
    text[length] = '\0';
    unsigned *uids = found.uids;
    if (sscanf(field(text, "Uid"), "%u %u %u %u", &uids[0], &uids[1], &uids[2], &uids[3]) != 4)
        refuse("the status of its first process cannot be read");
    found.bounding = strtoull(field(text, "CapBnd"), NULL, 16);
    found.effective = strtoull(field(text, "CapEff"), NULL, 16);
    found.no_new_privileges = atoi(field(text, "NoNewPrivs"));
    for (int at = 0; owner != NULL && at < 4; at++)
        if (uids[at] != *owner) refuse("its first process runs as another user now (a setuid program); try again later");
    return found;
}
