/* The parts of lattice-files: requests and replies, the change to a user, and trees by descriptor. */
#ifndef LATTICE_FILES_H
#define LATTICE_FILES_H
#include <stddef.h>
#include <sys/types.h>

enum { MAX_REQUEST = 256 * 1024, MAX_FIELDS = 4096, MAX_REPLY = 2 * 1024 * 1024 };

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

/* Return 0, for the last line of a verb. */
int reply_ok(struct reply *reply, const char *bytes, size_t length);
int reply_error(struct reply *reply, int code, const char *what);

/* Returns 1 when all bytes were read or written. */
int read_all(int file, void *bytes, size_t size);
int write_all(int file, const void *bytes, size_t size);

/* Runs a request in a process of its own. `fields` of a request: ID KEY VERB WORDS... */
int start_worker(const struct request *request);
void cancel_worker(const char *id);
int poll_workers(int input);

/* Carries out one request: VERB WORDS... */
int serve(const struct request *request, struct reply *reply);

/* Whether a request may name uid 0: jobs run as root here. */
extern int root_has_jobs;

/* Takes plain numbers only, and uid 0 only where jobs run as root. Returns 0 or -1 with errno. */
int parse_user(const char *uid, const char *gid, uid_t *user, gid_t *group);

/* Becomes the user for good: groups, group, user, no way back, no privileges from programs. Returns 0 or -1. */
int become_user(const char *uid, const char *gid, const char *groups);

/* Acts with the user's rights only, but keeps root's identity, so that the user cannot stop this process. For steps whose
   failure counts against the node. Returns 0 or -1. */
int act_as_user(const char *uid, const char *gid, const char *groups);

/* Opens a folder below another by its single name, without following links; `mounts` permits another file system.
   Returns -1 with errno. */
int open_folder(int parent, const char *name, int mounts);

/* Opens a folder by a path that may contain links; for folders of the site, and as the user. */
int open_path(const char *path);

/* Only the agent's own user may be able to change the entries of a folder, or to replace them in a sticky one. */
int is_own(int folder, int permit_sticky);

/* Splits a relative path in place. Returns the number of parts, or -1. */
enum { MAX_PARTS = 64 };
int split(char *path, char **parts);

/* Removes an entry and everything below it by descriptor. `as_root`: mounts below are detached, and folders are taken
   from their user first. Returns 0 or -1 with errno. */
int remove_tree(int parent, const char *name, int as_root);

/* Adds the bytes of the regular files below; stops after `most` entries. Returns 0, or 1 when a part was unreadable. */
int measure_tree(int folder, int levels, long *most, unsigned long long *bytes);

/* Verbs on small files, as the user. */
int verb_read(char **words, int count, struct reply *reply);
int verb_head(char **words, int count, struct reply *reply);
int verb_put(char **words, int count, struct reply *reply);
int verb_drop(char **words, int count, struct reply *reply);
int verb_poke(char **words, int count, struct reply *reply);

int verb_search(char **words, int count, struct reply *reply);

/* What a process can delay, with root's rights. */
int verb_environ(char **words, int count, struct reply *reply);
int verb_io(char **words, int count, struct reply *reply);

/* Carries out what the command line states, as a user. Returns the exit status. */
int run_command(char **words, int count);

/* Verbs that make and remove folders with root's rights at first. */
int verb_folder(char **words, int count, struct reply *reply);
int verb_prune(char **words, int count, struct reply *reply);
int verb_clear(char **words, int count, struct reply *reply);

#endif
