/* Starts the command of a container in its working directory, with the rights of its user. A container engine would enter
   the directory as root, past closed folders, and would create it in mounted data. It runs inside images with any C
   library or none, so it has none itself.

     lattice-workdir DIRECTORY COMMAND...           one that the user named
     lattice-workdir --image DIRECTORY COMMAND...   the image's; where it cannot be entered, the command starts in /

   A failure to enter is the last line on standard error, with exit status 126; engine-script.ts reports it. */
#include <asm/unistd.h>
#include <linux/errno.h>

enum { MAX_PATH = 4096, NOT_STARTED = 126, NOT_FOUND = 127 };

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");

static long call(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n mov x29, #0\n mov x30, #0\n mov x0, sp\n bl begin\n");

static long call(long number, long a, long b, long c)
{
    register long where __asm__("x8") = number;
    register long first __asm__("x0") = a, second __asm__("x1") = b, third __asm__("x2") = c;
    __asm__ volatile("svc #0" : "+r"(first) : "r"(where), "r"(second), "r"(third) : "memory");
    return first;
}
#else
#error "lattice-workdir has no system calls for this processor"
#endif

static long length(const char *text)
{
    long size = 0;
    while (text[size] != '\0') size++;
    return size;
}

static int is_same(const char *text, const char *other)
{
    while (*text != '\0' && *text == *other) text++, other++;
    return *text == *other;
}

static void say(const char *text)
{
    call(__NR_write, 2, (long)text, length(text));
}

static __attribute__((noreturn)) void end(const char *before, const char *what, const char *after, int status)
{
    say(before);
    say(what);
    say(after);
    for (;;) call(__NR_exit, status, 0, 0);
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
    if (has_slash(command[0])) return call(__NR_execve, (long)command[0], (long)command, (long)environment);
    if (size == 0) return why;
    for (const char *at = variable(environment, "PATH"); *at != '\0'; at += *at == ':') {
        char path[MAX_PATH];
        long used = 0;
        for (; *at != '\0' && *at != ':'; at++)
            if (used < MAX_PATH) path[used++] = *at;
        if (used == 0 || used + size + 2 > MAX_PATH) continue;
        path[used++] = '/';
        for (long from = 0; from <= size; from++) path[used++] = command[0][from];
        long result = call(__NR_execve, (long)path, (long)command, (long)environment);
        if (result != -ENOENT && result != -ENOTDIR) why = result;
        if (result != -ENOENT && result != -ENOTDIR && result != -EACCES) break;
    }
    return why;
}

/* Called with the stack of a new process: the count of words, the words, a zero, the environment. */
__attribute__((noreturn, used)) void begin(long *stack)
{
    long count = stack[0];
    char **words = (char **)(stack + 1), **environment = words + count + 1;
    int is_images = count > 1 && is_same(words[1], "--image");
    if (count < 3 + is_images) end("usage: lattice-workdir [--image] DIRECTORY COMMAND...\n", "", "", NOT_STARTED);
    words += is_images;
    long why = call(__NR_chdir, (long)words[1], 0, 0);
    if (is_images && why < 0) why = call(__NR_chdir, (long)"/", 0, 0);
    if (why == -EACCES) end("lattice: the working directory is not accessible to the user: ", words[1], "\n", NOT_STARTED);
    if (why < 0) end("lattice: the working directory does not exist: ", words[1], "\n", NOT_STARTED);
    why = start(words + 2, environment);
    if (why == -ENOENT || why == -ENOTDIR) end("", words[2], ": not found\n", NOT_FOUND);
    end("", words[2], why == -EACCES ? ": Permission denied\n" : ": cannot be executed\n", NOT_STARTED);
}
