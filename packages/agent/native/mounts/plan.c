/* Reads the plan: fields that end with a zero byte, first what holds for all steps, then the steps. A plan that is not
   exactly understood is refused before anything is mounted. */
#include "mounts.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PLAN = 8 * 1024 * 1024, MAX_ID = 0x7fffffff };

struct plan plan;

static __attribute__((noreturn)) void damaged(const char *what)
{
    fail("the plan of mounts is damaged: %s", what);
}

/* Digits only: no sign, no -1, no space. */
static unsigned long number(const char *text, const char *end)
{
    unsigned long value = 0;
    if (text == end) damaged("an empty number");
    for (; text < end; text++) {
        if (*text < '0' || *text > '9') damaged("not a number");
        value = value * 10 + (unsigned long)(*text - '0');
        if (value > MAX_ID) damaged("a number is too large");
    }
    return value;
}

static unsigned long whole(const char *text)
{
    return number(text, text + strlen(text));
}

static void read_user(char **fields)
{
    plan.has_user = 1;
    plan.uid = whole(fields[0]);
    plan.gid = whole(fields[1]);
    plan.user_name = fields[3];
    for (const char *at = fields[2]; *at != '\0';) {
        const char *end = strchrnul(at, ',');
        if (plan.group_count == MAX_GROUPS) damaged("too many groups");
        plan.groups[plan.group_count++] = number(at, end);
        at = *end == ',' ? end + 1 : end;
    }
}

static void add_rule(const char **list, int *count, const char *path)
{
    if (*count == MAX_RULES || path[0] != '/') damaged("a rule");
    list[(*count)++] = path;
}

void open_attempt(void)
{
    if (attempt >= 0) close(attempt);
    attempt = call_openat2(AT_FDCWD, plan.folder, O_PATH | O_DIRECTORY, NO_SYMLINKS);
    if (attempt < 0) fail("%s: %s", plan.folder, strerror(errno));
}

/* Returns the number of fields that it took, 0 when the field is a step. */
static int read_rule(char **fields, int left)
{
    const char *name = fields[0];
    if (strcmp(name, "confined") == 0) return plan.is_confined = 1;
    if (strcmp(name, "enter") == 0) return plan.enters = 1;
    if (left < 2) return 0;
    if (strcmp(name, "folder") == 0) return plan.folder = fields[1], open_attempt(), 2;
    if (strcmp(name, "protect") == 0) return add_rule(plan.protect, &plan.protect_count, fields[1]), 2;
    if (strcmp(name, "allow") == 0) return add_rule(plan.allow, &plan.allow_count, fields[1]), 2;
    if (strcmp(name, "home") == 0) return plan.home = fields[1], 2;
    if (strcmp(name, "workdir") == 0) return plan.workdir = fields[1], 2;
    if (strcmp(name, "user") == 0 && left >= 5) return read_user(fields + 1), 5;
    if (strcmp(name, "rights") == 0 && left >= 5) return read_user(fields + 1), plan.stays_root = 1, 5;
    if (strcmp(name, "variables") != 0) return 0;
    plan.variable_count = whole(fields[1]);
    if (plan.variable_count > left - 2) damaged("variables");
    plan.variables = fields + 2;
    for (int at = 0; at < plan.variable_count; at++)
        if (strchr(plan.variables[at], '=') == NULL) damaged("a variable");
    return 2 + plan.variable_count;
}

int step_size(char **fields, int left)
{
    static const struct {
        const char *verb;
        int fields;
    } known[] = {{"shared-memory", 1}, {"image", 3}, {"bind", 4}, {"own", 4}, {"keep", 2}, {"private", 2}, {"memory", 3}, {"secret", 2}};
    for (size_t at = 0; at < sizeof known / sizeof known[0]; at++)
        if (strcmp(fields[0], known[at].verb) == 0) return known[at].fields <= left ? known[at].fields : 0;
    if (strcmp(fields[0], "run") != 0 || left < 5) return 0;
    int words = whole(fields[3]);
    return words > 0 && words <= left - 4 ? 4 + words : 0;
}

static int read_file(const char *path, char **bytes)
{
    struct stat found;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 || fstat(file, &found) != 0) fail("%s: %s", path, strerror(errno));
    if (!S_ISREG(found.st_mode) || found.st_size == 0 || found.st_size > MAX_PLAN) damaged("its size");
    *bytes = malloc(found.st_size);
    if (*bytes == NULL) damaged("no memory");
    for (off_t length = 0; length < found.st_size;) {
        ssize_t got = read(file, *bytes + length, found.st_size - length);
        if (got <= 0) damaged("it was cut short");
        length += got;
    }
    close(file);
    if ((*bytes)[found.st_size - 1] != '\0') damaged("it was cut short");
    return (int)found.st_size;
}

void read_plan(const char *path)
{
    char *bytes, **fields = malloc(sizeof *fields * MAX_FIELDS);
    int size = read_file(path, &bytes), count = 0;
    if (fields == NULL) damaged("no memory");
    for (char *at = bytes; at < bytes + size; at += strlen(at) + 1) {
        if (count == MAX_FIELDS) damaged("too many fields");
        fields[count++] = at;
    }
    for (int at = 0, taken; at < count; at += taken) {
        taken = read_rule(fields + at, count - at);
        if (taken > 0) continue;
        taken = step_size(fields + at, count - at);
        if (taken == 0 || plan.step_count == MAX_TREES) damaged(fields[at]);
        plan.steps[plan.step_count++] = fields + at;
    }
    if (plan.step_count > 0 && attempt < 0) damaged("no folder");
}
