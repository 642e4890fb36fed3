/* The parts of lattice-files: requests and replies, the change to a user, and trees by descriptor. */
#ifndef LATTICE_FILES_H
#define LATTICE_FILES_H
#include <stddef.h>
#include <sys/types.h>

enum { MAX_REQUEST = 256 * 1024, MAX_FIELDS = 4096, MAX_REPLY = 64 * 1024 };

/* The fields of one request; each ends with a zero byte inside `bytes`. */
struct request {
    int count;
    char *fields[MAX_FIELDS];
};

/* A reply is "ok" or "error" with the name of the error and a message, then further bytes. */
struct reply {
    size_t length;
    char bytes[MAX_REPLY + 1024];
};

void reply_ok(struct reply *reply, const char *bytes, size_t length);
void reply_error(struct reply *reply, int code, const char *what);

/* Carries out one request in a process of its own. */
void serve(const struct request *request, struct reply *reply);

/* Becomes the user for good: groups, group, user, no way back, no privileges from programs. Returns 0 or -1. */
int become_user(const char *uid, const char *gid, const char *groups);

/* Opens a folder below another by its single name, without following links; `mounts` permits another file system.
   Returns -1 with errno. */
int open_folder(int parent, const char *name, int mounts);

/* Opens a folder by a path that may contain links; for folders of the site, and as the user. */
int open_path(const char *path);

/* Removes an entry and everything below it by descriptor; stays on one file system. Returns 0 or -1 with errno. */
int remove_tree(int parent, const char *name);

/* Adds the bytes of the regular files below; stops after `most` entries. Returns 0, or 1 when a part was unreadable. */
int measure_tree(int folder, long *most, unsigned long long *bytes);

#endif
