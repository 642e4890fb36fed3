/* The change from root to the user of the job: for one operation, and for good. */
#include "mounts.h"
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { JOIN_SESSION_KEYRING = 1 };

/* The real and saved ids stay root's, so the user can neither signal nor trace the process. */
void as_user(void)
{
    if (!plan.has_user) return;
    if (setgroups(plan.group_count, plan.groups) != 0 || setegid(plan.gid) != 0 || seteuid(plan.uid) != 0)
        fail("change of user: %s", strerror(errno));
}

void as_root(void)
{
    if (!plan.has_user) return;
    if (seteuid(0) != 0 || setegid(0) != 0 || setgroups(0, NULL) != 0) fail("change of user: %s", strerror(errno));
}

/* Keys in the session keyring are everybody's who inherits it, and all processes of an agent inherit the same. Where the
   calls are denied or absent, jobs cannot use keys either. */
static void new_keyring(void)
{
    if (syscall(SYS_keyctl, JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS && errno != EPERM)
        fail("a session keyring of its own: %s", strerror(errno));
}

void become_user(void)
{
    uid_t uids[3];
    gid_t gids[3];
    if (setgroups(plan.group_count, plan.groups) != 0 || setresgid(plan.gid, plan.gid, plan.gid) != 0 ||
        setresuid(plan.uid, plan.uid, plan.uid) != 0 || getresuid(&uids[0], &uids[1], &uids[2]) != 0 ||
        getresgid(&gids[0], &gids[1], &gids[2]) != 0)
        fail("change of user: %s", strerror(errno));
    for (int at = 0; at < 3; at++)
        if (uids[at] != plan.uid || gids[at] != plan.gid) fail("change of user: the ids did not change");
    if (plan.uid != 0 && setuid(0) == 0) fail("change of user: root can be regained");
    new_keyring();
}
