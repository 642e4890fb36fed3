/* What the kernel reads from a process: from its memory, or from the file system of its working directory. Both can take
   as long as the owner of the process likes, so that only a process with a deadline may ask. */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_environment(int process, struct reply *reply)
{
    static char bytes[MAX_REPLY];
    size_t length = 0;
    ssize_t got = 0;
    int file = openat(process, "environ", O_RDONLY | O_CLOEXEC);
    if (file < 0) return reply_error(reply, errno, "environ");
    while (length < sizeof bytes && (got = read(file, bytes + length, sizeof bytes - length)) > 0) length += (size_t)got;
    if (got < 0) return reply_error(reply, errno, "environ");
    if (length == sizeof bytes) return reply_error(reply, EFBIG, "environ");
    return reply_ok(reply, bytes, length);
}

static int find_workdir(int process, struct reply *reply)
{
    char text[PATH_MAX + 64];
    struct stat found;
    if (fstatat(process, "cwd", &found, 0) != 0) return reply_error(reply, errno, "cwd");
    int length = snprintf(text, 64, "%llu:%llu", (unsigned long long)found.st_dev, (unsigned long long)found.st_ino);
    ssize_t path = readlinkat(process, "cwd", text + length + 1, PATH_MAX);
    if (path < 0) return reply_error(reply, errno, "cwd");
    return reply_ok(reply, text, (size_t)length + 1 + (size_t)path);
}

int verb_process(char **words, int count, struct reply *reply)
{
    char path[32];
    (void)count;
    size_t digits = strspn(words[0], "0123456789");
    if (digits == 0 || digits > 10 || words[0][digits] != '\0') return reply_error(reply, EINVAL, "request");
    snprintf(path, sizeof path, "/proc/%s", words[0]);
    int process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process < 0) return reply_error(reply, errno, path);
    if (strcmp(words[1], "environ") == 0) return read_environment(process, reply);
    if (strcmp(words[1], "cwd") == 0) return find_workdir(process, reply);
    return reply_error(reply, EINVAL, "request");
}
