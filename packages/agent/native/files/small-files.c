/* Small files in folders of a user, read and written as that user: a link leads only where the user could go, and a
   pipe, a device or an endless file ends in an error. */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_regular(const char *path, int flags)
{
    struct stat found;
    int file = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) return -1;
    int why = fstat(file, &found) != 0 ? errno : S_ISREG(found.st_mode) ? 0 : EINVAL;
    if (why == 0) return file;
    close(file);
    return errno = why, -1;
}

static int read_most(char **words, int is_cut, struct reply *reply)
{
    static char bytes[MAX_REPLY];
    size_t most = strtoul(words[1], NULL, 10), length = 0;
    int file = open_regular(words[0], O_RDONLY);
    if (file < 0) return reply_error(reply, errno, words[0]);
    if (most > sizeof bytes) most = sizeof bytes;
    ssize_t got = 1;
    while (length < most && (got = read(file, bytes + length, most - length)) > 0) length += (size_t)got;
    if (got < 0) return reply_error(reply, errno, words[0]);
    char more;
    if (!is_cut && length == most && read(file, &more, 1) > 0) return reply_error(reply, EFBIG, words[0]);
    return reply_ok(reply, bytes, length);
}

int verb_read(char **words, int count, struct reply *reply)
{
    (void)count;
    return read_most(words, 0, reply);
}

int verb_head(char **words, int count, struct reply *reply)
{
    (void)count;
    return read_most(words, 1, reply);
}

enum { BLOCK_BYTES = 256 * 1024, MAX_FOUND = 4096 };

/* The end of a block stays in front of the next one, so that a text between two blocks is found with what follows it. */
int verb_search(char **words, int count, struct reply *reply)
{
    static char block[MAX_FOUND + BLOCK_BYTES];
    size_t size = strlen(words[1]), most = strtoul(words[2], NULL, 10), within = strtoul(words[3], NULL, 10), length = 0;
    (void)count;
    if (size == 0 || size > most || most > MAX_FOUND) return reply_error(reply, EINVAL, "request");
    int file = open_regular(words[0], O_RDONLY);
    if (file < 0) return reply_error(reply, errno, words[0]);
    for (size_t done = 0;;) {
        ssize_t got = done >= within ? 0 : read(file, block + length, BLOCK_BYTES);
        if (got < 0) return reply_error(reply, errno, words[0]);
        length += (size_t)got, done += (size_t)got;
        char *found = memmem(block, length, words[1], size);
        size_t rest = found == NULL ? 0 : length - (size_t)(found - block);
        if (rest >= most || (found != NULL && got == 0)) return reply_ok(reply, found, rest < most ? rest : most);
        if (got == 0) return reply_ok(reply, "", 0);
        if (length <= most) continue;
        memmove(block, block + length - most, most);
        length = most;
    }
}

/* The name appears with the whole text. */
int verb_put(char **words, int count, struct reply *reply)
{
    (void)count;
    char partial[64];
    uint64_t chance = 0;
    int folder = open_path(words[0]);
    if (folder < 0) return reply_error(reply, errno, words[0]);
    if (getrandom(&chance, sizeof chance, 0) < 0) return reply_error(reply, errno, words[1]);
    snprintf(partial, sizeof partial, ".%016llx", (unsigned long long)chance);
    int file = openat(folder, partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0) return reply_error(reply, errno, words[1]);
    errno = EIO;
    int done = write_all(file, words[2], strlen(words[2])) && close(file) == 0 &&
               renameat(folder, partial, folder, words[1]) == 0;
    if (done) return reply_ok(reply, "", 0);
    int why = errno;
    unlinkat(folder, partial, 0);
    return reply_error(reply, why, words[1]);
}

int verb_drop(char **words, int count, struct reply *reply)
{
    (void)count;
    int folder = open_path(words[0]);
    if (folder < 0) return reply_error(reply, errno, words[0]);
    if (unlinkat(folder, words[1], 0) != 0 && errno != ENOENT) return reply_error(reply, errno, words[1]);
    return reply_ok(reply, "", 0);
}

/* Writes numbers of four bytes into a file that exists, in order: programs map the file and see each at once. */
int verb_poke(char **words, int count, struct reply *reply)
{
    int file = open_regular(words[0], O_WRONLY | O_NOFOLLOW);
    if (file < 0) return reply_error(reply, errno, words[0]);
    if (count % 2 == 0) return reply_error(reply, EINVAL, "request");
    for (int at = 1; at < count; at += 2) {
        uint32_t value = (uint32_t)strtoul(words[at + 1], NULL, 10);
        if (pwrite(file, &value, sizeof value, (off_t)strtoul(words[at], NULL, 10)) != sizeof value)
            return reply_error(reply, errno, words[0]);
    }
    return reply_ok(reply, "", 0);
}
