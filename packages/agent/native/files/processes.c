/* What the kernel reads from the memory of a process, or not while the process becomes another program. Both can take as
   long as the owner of the process likes, so that only a process with a deadline may ask. */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_number(const char *word)
{
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && digits <= 10 && word[digits] == '\0';
}

/* A process that becomes another program holds up every reader of its counts until its files are closed. */
static void add_io(const char *pid, unsigned long long *bytes)
{
    static const char *const names[2] = {"\nread_bytes: ", "\nwrite_bytes: "};
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%s/io", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (length < 0) return;
    text[length] = '\0';
    for (int at = 0; at < 2; at++) {
        const char *found = strstr(text, names[at]);
        if (found != NULL) bytes[at] += strtoull(found + strlen(names[at]), NULL, 10);
    }
}

int verb_io(char **words, int count, struct reply *reply)
{
    char text[64];
    unsigned long long bytes[2] = {0, 0};
    for (int at = 0; at < count; at++) {
        if (!is_number(words[at])) return reply_error(reply, EINVAL, "request");
        add_io(words[at], bytes);
    }
    return reply_ok(reply, text, (size_t)snprintf(text, sizeof text, "%llu %llu", bytes[0], bytes[1]));
}

int verb_environ(char **words, int count, struct reply *reply)
{
    static char bytes[MAX_REPLY];
    char path[32];
    size_t length = 0;
    ssize_t got = 0;
    (void)count;
    if (!is_number(words[0])) return reply_error(reply, EINVAL, "request");
    snprintf(path, sizeof path, "/proc/%s/environ", words[0]);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return reply_error(reply, errno, path);
    while (length < sizeof bytes && (got = read(file, bytes + length, sizeof bytes - length)) > 0) length += (size_t)got;
    if (got < 0) return reply_error(reply, errno, path);
    if (length == sizeof bytes) return reply_error(reply, EFBIG, path);
    return reply_ok(reply, bytes, length);
}
