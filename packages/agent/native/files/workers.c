/* The processes of requests under way. A worker that has become a user can be stopped or killed by that user, so this
   process never waits for one: results arrive by pipes that do not block, every request has a deadline, and each user
   has a limited number of workers. */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* More are refused: a file system hangs, and waiting would not help. */
enum { MAX_WORKERS = 256, MAX_PER_KEY = 16, WORD_BYTES = 64 };
/* Trees of millions of files are removed within an hour. */
enum { DEADLINE_MS = 60 * 1000, REMOVAL_DEADLINE_MS = 60 * 60 * 1000, REAP_MS = 20 };

struct worker {
    pid_t pid;
    /* -1 when the reply was sent and only the end of the process is awaited. */
    int result;
    int64_t deadline;
    size_t length;
    char *bytes;
    char id[WORD_BYTES];
    char key[WORD_BYTES];
};

static struct worker workers[MAX_WORKERS];
static int worker_count;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void send_reply(const char *id, const char *bytes, size_t size)
{
    uint32_t length = (uint32_t)(strlen(id) + 1 + size);
    if (!write_all(1, &length, sizeof length) || !write_all(1, id, strlen(id) + 1) || !write_all(1, bytes, size)) exit(1);
}

static int send_error(const char *id, int code, const char *what)
{
    static struct reply reply;
    reply_error(&reply, code, what);
    send_reply(id, reply.bytes, reply.length);
    return 0;
}

static void work(const struct request *request, int result, pid_t parent)
{
    static struct reply reply;
    static struct request own;
    own.count = request->count - 2;
    memcpy(own.fields, request->fields + 2, sizeof(char *) * (size_t)own.count);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    /* Only the result stays open: no worker may read what belongs to another. */
    if (dup2(result, 0) < 0) _exit(1);
    syscall(SYS_close_range, 1, ~0U, 0);
    umask(022);
    serve(&own, &reply);
    _exit(write_all(0, reply.bytes, reply.length) ? 0 : 1);
}

static int is_removal(const char *verb) { return strcmp(verb, "clear") == 0 || strcmp(verb, "prune") == 0; }

static int has_room(const char *key)
{
    int same = 0;
    for (int at = 0; at < worker_count; at++) same += strcmp(workers[at].key, key) == 0;
    return worker_count < MAX_WORKERS && same < MAX_PER_KEY;
}

int start_worker(const struct request *request)
{
    const char *id = request->fields[0], *key = request->fields[1];
    int pipes[2];
    if (strlen(key) >= WORD_BYTES) return send_error(id, EINVAL, "request");
    if (!has_room(key) || pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0)
        return send_error(id, EBUSY, "too many requests are under way");
    char *bytes = malloc(sizeof(struct reply));
    pid_t own = getpid(), pid = bytes == NULL ? -1 : fork();
    if (pid == 0) {
        fcntl(pipes[1], F_SETFL, 0);
        work(request, pipes[1], own);
    }
    int why = errno;
    close(pipes[1]);
    if (pid < 0) {
        close(pipes[0]);
        free(bytes);
        return send_error(id, why, "fork");
    }
    struct worker *worker = &workers[worker_count++];
    *worker = (struct worker){.pid = pid, .result = pipes[0], .bytes = bytes};
    worker->deadline = now_ms() + (is_removal(request->fields[2]) ? REMOVAL_DEADLINE_MS : DEADLINE_MS);
    strcpy(worker->id, id);
    strcpy(worker->key, key);
    return 0;
}

/* The reply is sent once; the process may live on until the kernel lets it end. */
static void settle(struct worker *worker, int code, const char *what)
{
    if (what == NULL) send_reply(worker->id, worker->bytes, worker->length);
    else send_error(worker->id, code, what);
    close(worker->result);
    free(worker->bytes);
    worker->result = -1;
    worker->bytes = NULL;
    worker->id[0] = '\0';
}

/* A worker that ends without a reply failed in a way that it could not report. */
static void take_result(struct worker *worker)
{
    ssize_t got = 0;
    do {
        size_t room = sizeof((struct reply *)0)->bytes - worker->length;
        if (room == 0) break;
        got = read(worker->result, worker->bytes + worker->length, room);
        if (got > 0) worker->length += (size_t)got;
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0 && errno == EAGAIN) return;
    if (worker->length == 0) settle(worker, EIO, "the operation ended without a result");
    else settle(worker, 0, NULL);
}

static void forget(int at)
{
    if (workers[at].result >= 0) {
        close(workers[at].result);
        free(workers[at].bytes);
    }
    workers[at] = workers[--worker_count];
}

void cancel_worker(const char *id)
{
    for (int at = 0; at < worker_count; at++) {
        if (workers[at].result < 0 || strcmp(workers[at].id, id) != 0) continue;
        kill(workers[at].pid, SIGKILL);
        settle(&workers[at], ETIMEDOUT, "request");
        return;
    }
}

/* Ends what is late and reaps what has ended. Returns how long to wait for the next of them. */
static int look_after(void)
{
    int64_t now = now_ms(), wait = -1;
    for (int at = worker_count - 1; at >= 0; at--) {
        struct worker *worker = &workers[at];
        if (worker->result >= 0 && now >= worker->deadline) {
            kill(worker->pid, SIGKILL);
            settle(worker, ETIMEDOUT, "request");
        }
        if (worker->result < 0 && waitpid(worker->pid, NULL, WNOHANG) != 0) {
            forget(at);
            continue;
        }
        int64_t own = worker->result < 0 ? REAP_MS : worker->deadline - now;
        if (wait < 0 || own < wait) wait = own;
    }
    return (int)wait;
}

/* Waits for input or results. Returns 1 when there is input. */
int poll_workers(int input)
{
    static struct pollfd polled[MAX_WORKERS + 1];
    int wait = look_after(), count = worker_count;
    polled[0] = (struct pollfd){.fd = input, .events = POLLIN};
    for (int at = 0; at < count; at++) polled[at + 1] = (struct pollfd){.fd = workers[at].result, .events = POLLIN};
    if (poll(polled, (nfds_t)count + 1, wait) < 0) return 0;
    for (int at = 0; at < count; at++)
        if (workers[at].result >= 0 && polled[at + 1].revents != 0) take_result(&workers[at]);
    return polled[0].revents != 0;
}
