/* Connects standard input and output to a program of the attempt. It has the rights, the limits and the network of the
   attempt, so a program can direct its agent only where it could go itself. */
#include "inside.h"
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/prctl.h>
#include <linux/socket.h>
#include <linux/un.h>

enum { STREAM = 1, CLOSE_ON_EXEC = 02000000, SHUT_WRITING = 1, SIGNAL_KILL = 9, SIGNAL_CHILD = 17, PIECE = 65536 };
enum { FAMILY_UNIX = 1, FAMILY_INET = 2, FAMILY_INET6 = 10, MAX_PORT = 65535 };

static long opened(int family, const void *address, long size)
{
    long socket = CALL3(__NR_socket, family, STREAM | CLOSE_ON_EXEC, 0);
    if (socket < 0) return socket;
    long connected = CALL3(__NR_connect, socket, address, size);
    if (connected == 0) return socket;
    CALL3(__NR_close, socket, 0, 0);
    return connected;
}

static long to_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = FAMILY_UNIX};
    long size = length(path);
    if (size >= (long)sizeof address.sun_path) return -ENAMETOOLONG;
    for (long at = 0; at < size; at++) address.sun_path[at] = path[at];
    return opened(FAMILY_UNIX, &address, sizeof address);
}

static unsigned number(const char **text, char until, unsigned most)
{
    unsigned value = 0;
    const char *from = *text;
    for (; **text >= '0' && **text <= '9' && value <= most; (*text)++) value = value * 10 + (unsigned)(**text - '0');
    if (*text == from || **text != until || value > most) end("lattice-inside: not an address: ", from, "\n", NOT_STARTED);
    if (until != '\0') (*text)++;
    return value;
}

static unsigned short swapped(unsigned port)
{
    return (unsigned short)(port << 8 | port >> 8);
}

static long to_inet(const char *host, const char *port)
{
    struct sockaddr_in address = {.sin_family = FAMILY_INET};
    unsigned char *bytes = (unsigned char *)&address.sin_addr;
    for (int at = 0; at < 4; at++) bytes[at] = (unsigned char)number(&host, at < 3 ? '.' : '\0', 255);
    address.sin_port = swapped(number(&port, '\0', MAX_PORT));
    return opened(FAMILY_INET, &address, sizeof address);
}

/* The loopback of version 6. */
static long to_inet6(const char *port)
{
    struct sockaddr_in6 address = {.sin6_family = FAMILY_INET6};
    address.sin6_addr.s6_addr[15] = 1;
    address.sin6_port = swapped(number(&port, '\0', MAX_PORT));
    return opened(FAMILY_INET6, &address, sizeof address);
}

static void pass(long from, long to)
{
    static char bytes[PIECE];
    for (long got; (got = CALL3(__NR_read, from, bytes, PIECE)) > 0 || got == -EINTR;)
        for (long sent = 0, put; sent < got; sent += put) {
            put = CALL3(__NR_write, to, bytes + sent, got - sent);
            if (put == -EINTR) put = 0;
            if (put < 0) return;
        }
}

/* relay unix PATH | relay inet A.B.C.D PORT | relay loopback PORT */
void relay(char **words)
{
    long there = -EINVAL;
    if (words[0] != 0 && words[1] != 0 && is_same(words[0], "unix")) there = to_socket(words[1]);
    else if (words[0] != 0 && words[1] != 0 && words[2] != 0 && is_same(words[0], "inet")) there = to_inet(words[1], words[2]);
    else if (words[0] != 0 && words[1] != 0 && is_same(words[0], "loopback")) {
        there = to_inet("127.0.0.1", words[1]);
        if (there < 0) there = to_inet6(words[1]);
    }
    if (there < 0) end("lattice-inside: cannot connect\n", "", "", NOT_STARTED);
    long parent = CALL3(__NR_getpid, 0, 0, 0), child = call(__NR_clone, SIGNAL_CHILD, 0, 0, 0, 0);
    if (child < 0) end("lattice-inside: no further process\n", "", "", NOT_STARTED);
    if (child == 0) {
        CALL3(__NR_prctl, PR_SET_PDEATHSIG, SIGNAL_KILL, 0);
        if (CALL3(__NR_getppid, 0, 0, 0) != parent) end("", "", "", 0);
        CALL3(__NR_close, 1, 0, 0);
        pass(0, there);
        CALL3(__NR_shutdown, there, SHUT_WRITING, 0);
        end("", "", "", 0);
    }
    pass(there, 1);
    end("", "", "", 0);
}
