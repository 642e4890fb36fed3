/* The environment of the command. It comes by a descriptor, so that no step of root's has it. */
#include "enter.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than the kernel takes for a command. */
enum { MAX_BYTES = 8 * 1024 * 1024, FIRST_BYTES = 16 * 1024 };

static char *read_to_end(int descriptor, size_t *length)
{
    size_t room = FIRST_BYTES;
    char *bytes = malloc(room);
    *length = 0;
    for (;;) {
        if (bytes == NULL) fail("its variables");
        ssize_t got = read(descriptor, bytes + *length, room - *length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("its variables");
        if (got == 0) return bytes;
        *length += (size_t)got;
        if (*length < room) continue;
        if (room >= MAX_BYTES) refuse("its variables are too long");
        bytes = realloc(bytes, room *= 2);
    }
}

char **read_variables(int descriptor)
{
    size_t length, count = 0;
    char *bytes = read_to_end(descriptor, &length);
    close(descriptor);
    if (length > 0 && bytes[length - 1] != '\0') refuse("its variables are incomplete");
    for (size_t at = 0; at < length; at++) count += bytes[at] == '\0';
    char **variables = calloc(count + 1, sizeof *variables);
    if (variables == NULL) fail("its variables");
    char *at = bytes;
    for (size_t n = 0; n < count; n++, at += strlen(at) + 1) variables[n] = at;
    return variables;
}
