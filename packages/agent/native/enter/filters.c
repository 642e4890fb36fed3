/* The seccomp filters of a process: read by ptrace, which stops the process briefly, and saved once for all later entries.
   File format: for each filter, oldest first, its length in instructions as 4 bytes, then the instructions. The profile
   that they were made from is not needed. */
#include "enter.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

enum { MAX_FILTERS = 64, MAX_INSTRUCTIONS = 4096, TRIES = 200, PAUSE_US = 5000 };

/* Retries while another tracer is attached. Returns a signal that arrived first, to be passed on. */
static long stop(int target)
{
    for (int left = TRIES; ptrace(PTRACE_SEIZE, target, 0, 0) != 0; left--) {
        if (errno != EPERM || left == 0) fail("its seccomp filters cannot be read");
        usleep(PAUSE_US);
    }
    if (ptrace(PTRACE_INTERRUPT, target, 0, 0) != 0) fail("its seccomp filters cannot be read");
    int status;
    if (waitpid(target, &status, __WALL) != target || !WIFSTOPPED(status)) fail("it ended");
    return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
}

static void put(int file, const void *bytes, size_t size)
{
    if (write(file, bytes, size) != (ssize_t)size) fail("its seccomp filters cannot be kept");
}

int save_filters(int target, const uid_t *owner, const char *path)
{
    static struct sock_filter code[MAX_INSTRUCTIONS];
    int process = open_process(target);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) fail(path);
    long signal = stop(target);
    /* The process is stopped: it stays what it is. */
    status_of(process, owner);
    for (long number = 0; number < MAX_FILTERS; number++) {
        long length = ptrace(PTRACE_SECCOMP_GET_FILTER, target, number, NULL);
        if (length < 0 && errno == ENOENT) break;
        if (length <= 0 || length > MAX_INSTRUCTIONS) fail("its seccomp filters cannot be read");
        if (ptrace(PTRACE_SECCOMP_GET_FILTER, target, number, code) != length) fail("its seccomp filters cannot be read");
        uint32_t count = length;
        put(file, &count, sizeof count);
        put(file, code, count * sizeof code[0]);
    }
    ptrace(PTRACE_DETACH, target, 0, signal);
    return close(file) == 0 ? 0 : 1;
}

void load_filters(int file)
{
    static struct sock_filter code[MAX_INSTRUCTIONS];
    uint32_t count;
    ssize_t got;
    while ((got = read(file, &count, sizeof count)) == sizeof count) {
        ssize_t size = count * sizeof code[0];
        if (count > MAX_INSTRUCTIONS || read(file, code, size) != size) fail("its seccomp filters are damaged");
        struct sock_fprog program = {count, code};
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) fail("its seccomp filters");
    }
    if (got != 0) fail("its seccomp filters are damaged");
}
