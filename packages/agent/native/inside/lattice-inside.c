/* Runs inside an attempt, as its user and with its files, for the agent. Images can have any C library or none, so it has
   none itself.

     lattice-inside workdir DIRECTORY COMMAND...           starts the command in a directory that the user named
     lattice-inside workdir --image DIRECTORY COMMAND...   the image's; where it cannot be entered, the command starts in /
     lattice-inside relay ADDRESS...                       connects standard input and output; see relay.c

   A container engine would enter the working directory as root, past closed folders, and would create it in mounted data.
   A failure to enter is the last line on standard error, with exit status 126; engine-script.ts reports it. */
#include "inside.h"

enum { MAX_PATH = 4096 };

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");
#else
__asm__(".globl _start\n_start:\n mov x29, #0\n mov x30, #0\n mov x0, sp\n bl begin\n");
#endif

long length(const char *text)
{
    long size = 0;
    while (text[size] != '\0') size++;
    return size;
}

int is_same(const char *text, const char *other)
{
    while (*text != '\0' && *text == *other) text++, other++;
    return *text == *other;
}

static void say(const char *text)
{
    CALL3(__NR_write, 2, text, length(text));
}

void end(const char *before, const char *what, const char *after, int status)
{
    say(before);
    say(what);
    say(after);
    for (;;) CALL3(__NR_exit_group, status, 0, 0);
}

static const char *variable(char **environment, const char *name)
{
    for (; *environment != 0; environment++) {
        long at = 0;
        while (name[at] != '\0' && (*environment)[at] == name[at]) at++;
        if (name[at] == '\0' && (*environment)[at] == '=') return *environment + at + 1;
    }
    return "/usr/local/bin:/usr/bin:/bin";
}

static int has_slash(const char *text)
{
    while (*text != '\0' && *text != '/') text++;
    return *text == '/';
}

/* Returns why the command did not start. */
static long start(char **command, char **environment)
{
    long why = -ENOENT, size = length(command[0]);
    if (has_slash(command[0])) return CALL3(__NR_execve, command[0], command, environment);
    if (size == 0) return why;
    for (const char *at = variable(environment, "PATH"); *at != '\0'; at += *at == ':') {
        char path[MAX_PATH];
        long used = 0;
        for (; *at != '\0' && *at != ':'; at++)
            if (used < MAX_PATH) path[used++] = *at;
        if (used == 0 || used + size + 2 > MAX_PATH) continue;
        path[used++] = '/';
        for (long from = 0; from <= size; from++) path[used++] = command[0][from];
        long result = CALL3(__NR_execve, path, command, environment);
        if (result != -ENOENT && result != -ENOTDIR) why = result;
        if (result != -ENOENT && result != -ENOTDIR && result != -EACCES) break;
    }
    return why;
}

void enter_workdir(char **words, char **environment)
{
    int is_images = words[0] != 0 && is_same(words[0], "--image");
    words += is_images;
    if (words[0] == 0 || words[1] == 0) end("lattice-inside: no directory or no command\n", "", "", NOT_STARTED);
    long why = CALL3(__NR_chdir, words[0], 0, 0);
    if (is_images && why < 0) why = CALL3(__NR_chdir, "/", 0, 0);
    if (why == -EACCES) end("lattice: the working directory is not accessible to the user: ", words[0], "\n", NOT_STARTED);
    if (why < 0) end("lattice: the working directory does not exist: ", words[0], "\n", NOT_STARTED);
    why = start(words + 1, environment);
    if (why == -ENOENT || why == -ENOTDIR) end("", words[1], ": not found\n", NOT_FOUND);
    end("", words[1], why == -EACCES ? ": Permission denied\n" : ": cannot be executed\n", NOT_STARTED);
}

/* Called with the stack of a new process: the count of words, the words, a zero, the environment. */
__attribute__((noreturn, used)) void begin(long *stack)
{
    char **words = (char **)(stack + 1), **environment = words + stack[0] + 1;
    if (stack[0] > 1 && is_same(words[1], "workdir")) enter_workdir(words + 2, environment);
    if (stack[0] > 1 && is_same(words[1], "relay")) relay(words + 2);
    end("usage: lattice-inside workdir|relay ...\n", "", "", NOT_STARTED);
}
