/* File operations of the agent below folders that users can write (docs/decisions/0018-root-and-user-files.md). The agent starts
   one of these and sends it requests; each is carried out by a process of its own, so that a file system that hangs
   holds up one request only. A request and a reply are a length of four bytes, then fields that end with a zero byte:

     request   ID VERB WORDS...          reply   ID ok BYTES  |  ID error NAME MESSAGE
*/
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* More requests under way are refused: a file system hangs, and waiting would not help. */
enum { MAX_WORKERS = 256, ID_BYTES = 32 };

struct worker {
    pid_t pid;
    int result;
    char id[ID_BYTES];
};

static struct worker workers[MAX_WORKERS];
static int worker_count;

void reply_ok(struct reply *reply, const char *bytes, size_t length)
{
    memcpy(reply->bytes, "ok", 3);
    memcpy(reply->bytes + 3, bytes, length);
    reply->length = 3 + length;
}

void reply_error(struct reply *reply, int code, const char *what)
{
    const char *name = strerrorname_np(code);
    int length = snprintf(reply->bytes, 1024, "error%c%s%c%s: %.400s", 0, name == NULL ? "EIO" : name, 0, what, strerror(code));
    reply->length = length > 1023 ? 1023 : length;
}

static int read_all(int file, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(file, (char *)bytes + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        done += got;
    }
    return 1;
}

static int write_all(int file, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = write(file, (const char *)bytes + done, size - done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return 0;
        done += put;
    }
    return 1;
}

static void send_reply(const char *id, const struct reply *reply)
{
    uint32_t length = strlen(id) + 1 + reply->length;
    if (!write_all(1, &length, sizeof length) || !write_all(1, id, strlen(id) + 1) ||
        !write_all(1, reply->bytes, reply->length))
        exit(1);
}

static int parse(char *bytes, size_t length, struct request *request)
{
    request->count = 0;
    if (length == 0 || bytes[length - 1] != '\0') return 0;
    for (char *at = bytes; at < bytes + length; at += strlen(at) + 1) {
        if (request->count == MAX_FIELDS) return 0;
        request->fields[request->count++] = at;
    }
    return request->count >= 2 && strlen(request->fields[0]) < ID_BYTES;
}

static void work(const struct request *request, int result)
{
    static struct reply reply;
    static struct request own;
    own.count = request->count - 1;
    memcpy(own.fields, request->fields + 1, sizeof(char *) * own.count);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve(&own, &reply);
    _exit(write_all(result, reply.bytes, reply.length) ? 0 : 1);
}

static void start(const struct request *request)
{
    static struct reply refusal;
    const char *id = request->fields[0];
    int pipes[2];
    if (worker_count == MAX_WORKERS || pipe2(pipes, O_CLOEXEC) != 0) {
        reply_error(&refusal, EBUSY, "too many requests are under way");
        return send_reply(id, &refusal);
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(0);
        close(1);
        work(request, pipes[1]);
    }
    close(pipes[1]);
    if (pid < 0) {
        close(pipes[0]);
        reply_error(&refusal, errno, "fork");
        return send_reply(id, &refusal);
    }
    struct worker *worker = &workers[worker_count++];
    worker->pid = pid;
    worker->result = pipes[0];
    strcpy(worker->id, id);
}

static int accept_request(void)
{
    static char bytes[MAX_REQUEST];
    static struct request request;
    uint32_t length;
    if (!read_all(0, &length, sizeof length) || length > sizeof bytes || !read_all(0, bytes, length)) return 0;
    if (!parse(bytes, length, &request)) return 0;
    start(&request);
    return 1;
}

/* A worker that ends without a reply failed in a way that it could not report. */
static void finish(int at)
{
    static struct reply reply;
    struct worker worker = workers[at];
    workers[at] = workers[--worker_count];
    reply.length = 0;
    for (ssize_t got; reply.length < sizeof reply.bytes;) {
        got = read(worker.result, reply.bytes + reply.length, sizeof reply.bytes - reply.length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        reply.length += got;
    }
    close(worker.result);
    waitpid(worker.pid, NULL, 0);
    if (reply.length == 0) reply_error(&reply, EIO, "the operation ended without a result");
    send_reply(worker.id, &reply);
}

int main(void)
{
    struct pollfd polled[MAX_WORKERS + 1];
    if (clearenv() != 0 || chdir("/") != 0) return 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);
    for (;;) {
        polled[0] = (struct pollfd){.fd = 0, .events = POLLIN};
        int count = worker_count;
        for (int at = 0; at < count; at++) polled[at + 1] = (struct pollfd){.fd = workers[at].result, .events = POLLIN};
        if (poll(polled, count + 1, -1) < 0 && errno != EINTR) return 1;
        for (int at = count - 1; at >= 0; at--)
            if (polled[at + 1].revents != 0) finish(at);
        if (polled[0].revents != 0 && !accept_request()) return 0;
    }
}
