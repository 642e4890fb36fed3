/* File operations of the agent below folders that users can write (docs/decisions/0018-root-and-user-files.md). The agent starts
   one of these and sends it requests; each is carried out by a process of its own, so that a file system that hangs
   holds up one request only. A request and a reply are a length of four bytes, then fields that end with a zero byte:

     request   ID KEY VERB WORDS...      reply   ID ok BYTES  |  ID error NAME MESSAGE
     request   ID "" cancel              ends the process of the request ID; there is no reply

   KEY names whose request it is: each has a limited number of processes. The word "root-jobs" on the command line
   permits requests for uid 0. Other words are carried out at once, as the user, by this process alone:

     lattice-files output UID GID GROUPS append|truncate PATH...   makes the files
     lattice-files output UID GID GROUPS follow PID PATH           copies standard input until the process has ended
     lattice-files output UID GID GROUPS rest PATH                 copies the rest of standard input
     lattice-files resize UID GID GROUPS TERMINAL ROWS COLUMNS */
#include "files.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* A longer request means that the agent is not our agent. */
enum { MAX_DRAINED = 64 * 1024 * 1024, ID_BYTES = 32 };

int root_has_jobs;

/* The names of Node.js for the errors that callers decide by; strerrorname_np is too new for some sites. */
static const struct {
    int code;
    const char *name;
} names[] = {
    {EPERM, "EPERM"},     {ENOENT, "ENOENT"},   {EACCES, "EACCES"},       {EBUSY, "EBUSY"},   {EEXIST, "EEXIST"},
    {EXDEV, "EXDEV"},     {ENOTDIR, "ENOTDIR"}, {EISDIR, "EISDIR"},       {EINVAL, "EINVAL"}, {EMFILE, "EMFILE"},
    {EFBIG, "EFBIG"},     {ENOSPC, "ENOSPC"},   {EROFS, "EROFS"},         {ELOOP, "ELOOP"},   {ENOTEMPTY, "ENOTEMPTY"},
    {EDQUOT, "EDQUOT"},   {ESTALE, "ESTALE"},   {ETIMEDOUT, "ETIMEDOUT"}, {ENOSYS, "ENOSYS"}, {ENAMETOOLONG, "ENAMETOOLONG"},
    {E2BIG, "E2BIG"},     {EAGAIN, "EAGAIN"},   {ENOMEM, "ENOMEM"},
};

static const char *name_of(int code)
{
    for (size_t at = 0; at < sizeof names / sizeof names[0]; at++)
        if (names[at].code == code) return names[at].name;
    return "EIO";
}

int reply_ok(struct reply *reply, const char *bytes, size_t length)
{
    memcpy(reply->bytes, "ok", 3);
    memcpy(reply->bytes + 3, bytes, length);
    reply->length = 3 + length;
    return 0;
}

int reply_error(struct reply *reply, int code, const char *what)
{
    int length = snprintf(reply->bytes, 1024, "error%c%s%c%.400s: %s", 0, name_of(code), 0, what, strerror(code));
    reply->length = length > 1023 ? 1023 : (size_t)length;
    return 0;
}

int read_all(int file, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(file, (char *)bytes + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        done += (size_t)got;
    }
    return 1;
}

int write_all(int file, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = write(file, (const char *)bytes + done, size - done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return 0;
        done += (size_t)put;
    }
    return 1;
}

/* Returns 0 when the bytes are not a request. */
static int parse(char *bytes, size_t length, struct request *request)
{
    request->count = 0;
    if (length == 0 || bytes[length - 1] != '\0') return 0;
    for (char *at = bytes; at < bytes + length; at += strlen(at) + 1) {
        if (request->count == MAX_FIELDS) return 0;
        request->fields[request->count++] = at;
    }
    return request->count >= 3 && strlen(request->fields[0]) < ID_BYTES;
}

static int refuse(const char *id, int code)
{
    static struct reply reply;
    char own[ID_BYTES] = "";
    memccpy(own, id, '\0', sizeof own - 1);
    reply_error(&reply, code, "request");
    uint32_t length = (uint32_t)(strlen(own) + 1 + reply.length);
    return write_all(1, &length, sizeof length) && write_all(1, own, strlen(own) + 1) &&
           write_all(1, reply.bytes, reply.length);
}

/* Reads the rest of a request that is too long. */
static int drain(size_t left)
{
    static char bytes[MAX_REPLY];
    for (size_t part; left > 0; left -= part) {
        part = left < sizeof bytes ? left : sizeof bytes;
        if (!read_all(0, bytes, part)) return 0;
    }
    return 1;
}

/* Returns 0 at the end of the input. */
static int accept_request(void)
{
    static char bytes[MAX_REQUEST];
    static struct request request;
    uint32_t length;
    if (!read_all(0, &length, sizeof length) || length > MAX_DRAINED) return 0;
    size_t taken = length < sizeof bytes ? length : sizeof bytes;
    if (!read_all(0, bytes, taken)) return 0;
    if (taken < length) return drain(length - taken) && refuse(bytes, E2BIG);
    if (!parse(bytes, taken, &request)) return taken == 0 || refuse(bytes, E2BIG);
    if (strcmp(request.fields[2], "cancel") == 0) cancel_worker(request.fields[0]);
    else start_worker(&request);
    return 1;
}

int main(int count, char **words)
{
    struct rlimit files;
    if (clearenv() != 0 || chdir("/") != 0) return 1;
    root_has_jobs = count > 1 && strcmp(words[1], "root-jobs") == 0;
    if (count > 1 && !root_has_jobs) return run_command(words + 1, count - 1);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);
    while (!poll_workers(0) || accept_request()) continue;
    return 0;
}
