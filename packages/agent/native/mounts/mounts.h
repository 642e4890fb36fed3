/* Shared by the parts of lattice-mounts. */
#ifndef LATTICE_MOUNTS_H
#define LATTICE_MOUNTS_H
#include <stddef.h>
#include <sys/types.h>

enum { MAX_FIELDS = 65536, MAX_GROUPS = 65536, MAX_TREES = 256, MAX_RULES = 256, MAX_MESSAGE = 400, NOT_STARTED = 126 };

/* What the plan says about the attempt. Set by plan.c, complete before the first mount. */
struct plan {
    const char *protect[MAX_RULES], *allow[MAX_RULES], *folder, *home, *workdir, *user_name;
    int protect_count, allow_count;
    char **steps[MAX_TREES];
    int step_count;
    char **variables;
    int variable_count;
    uid_t uid;
    gid_t gid, groups[MAX_GROUPS];
    size_t group_count;
    int has_user, stays_root, is_confined, enters;
};

extern struct plan plan;
/* The folder of the attempt; -1 without one. */
extern int attempt;
/* The stage of the prologue that a failure belongs to. */
extern const char *stage;

__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);

void read_plan(const char *path);
/* A descriptor belongs to the namespace that it was opened in. */
void open_attempt(void);
/* Returns the number of fields of the step, or 0 when it is damaged or unknown. */
int step_size(char **fields, int left);

/* Effective ids only, for one operation. */
void as_user(void);
void as_root(void);
/* For good, checked. */
void become_user(void);

enum access { READ_ONLY, READ_WRITE };

/* Trees that are ready to be attached; none has a place before all of them exist. */
int image_tree(const char *file);
int memory_tree(const char *options);
int limited_tree(const char *bytes);
int bind_tree(const char *source, const char *target, enum access access, int is_own, int *is_file);
int private_tree(const char *name);
int program_tree(const char *target, char **words, int count, enum access access);
/* `source`: a path for the message, or NULL. */
void require_writable(int tree, const char *source);
void restrict_tree(int tree, enum access access, const char *target);

/* USER: chosen by the user, within the rules of the plan. OWN: the agent's, below folders of root's.
   PLACE: "@NAME", a name in the folder `mounts` of the attempt. */
enum target_kind { USER_TARGET, OWN_TARGET };
void attach(int tree, const char *target, enum target_kind kind, int is_file);

/* mount(2) and its successors by number: older C libraries lack the functions, newer headers clash. */
int call_open_tree(int folder, const char *path, unsigned flags);
int call_move_mount(int from, int to);
int call_fsopen(const char *type);
int call_fsconfig(int context, unsigned command, const char *key, const char *value);
int call_fsmount(int context, unsigned attributes);
int call_mount_setattr(int tree, unsigned attributes);
int call_faccessat2(int folder, int mode);
int call_openat2(int folder, const char *path, int flags, unsigned resolve);
void new_namespace(void);
/* System V memory, semaphores and queues that end with the last process. */
void new_shared_memory(void);

enum { TREE_CLONE = 1, CONFIG_FLAG = 0, CONFIG_STRING = 1, CONFIG_CREATE = 6 };
enum { ATTR_RDONLY = 1, ATTR_NOSUID = 2, ATTR_NODEV = 4 };
enum { NO_MAGICLINKS = 2, NO_SYMLINKS = 4, BENEATH = 8, IN_ROOT = 16 };

#endif
