/* Shared by the parts of lattice-inside: system calls, because images can have any C library or none. */
#ifndef LATTICE_INSIDE_H
#define LATTICE_INSIDE_H
#include <asm/unistd.h>
#include <linux/errno.h>

enum { NOT_STARTED = 126, NOT_FOUND = 127 };

#if defined(__x86_64__)
static inline long call(long number, long a, long b, long c, long d, long e)
{
    register long fourth __asm__("r10") = d, fifth __asm__("r8") = e;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long call(long number, long a, long b, long c, long d, long e)
{
    register long where __asm__("x8") = number;
    register long first __asm__("x0") = a, second __asm__("x1") = b, third __asm__("x2") = c;
    register long fourth __asm__("x3") = d, fifth __asm__("x4") = e;
    __asm__ volatile("svc #0"
                     : "+r"(first)
                     : "r"(where), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
                     : "memory");
    return first;
}
#else
#error "lattice-inside has no system calls for this processor"
#endif

#define CALL3(number, a, b, c) call(number, (long)(a), (long)(b), (long)(c), 0, 0)

long length(const char *text);
int is_same(const char *text, const char *other);
/* Writes the texts to standard error and exits. */
__attribute__((noreturn)) void end(const char *before, const char *what, const char *after, int status);

__attribute__((noreturn)) void enter_workdir(char **words, char **environment);
__attribute__((noreturn)) void relay(char **words);

#endif
