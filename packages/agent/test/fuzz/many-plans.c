/* `many-plans FOLDER COUNT` ends plans 0 to COUNT - 1 of the folder as `lattice-mounts PLAN /bin/true` does, each in a
   process of its own but without a start of the program for each, and prints one exit status per line. Linked with the
   sources of lattice-mounts, whose `main` is renamed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_S = 10, BY_SIGNAL = 128 };

int lattice_mounts(int count, char **words);

/* For a build with -fsanitize=address: the program ends without freeing its plan. */
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static void end_plan(const char *folder, int number)
{
    char plan[4096];
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    char *words[] = {"lattice-mounts", plan, "/bin/true", NULL};
    snprintf(plan, sizeof plan, "%s/%d", folder, number);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    alarm(LIMIT_S);
    exit(lattice_mounts(3, words));
}

int main(int count, char **words)
{
    if (count != 3) return 2;
    for (int number = 0; number < atoi(words[2]); number++) {
        int status = 0;
        pid_t child = fork();
        if (child < 0) return perror("fork"), 1;
        if (child == 0) end_plan(words[1], number);
        waitpid(child, &status, 0);
        printf("%d\n", WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status));
        fflush(stdout);
    }
    return 0;
}
