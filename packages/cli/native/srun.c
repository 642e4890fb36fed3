/*
 * Converts the options of `srun` inside a job into a launch request: tasks, nodes and variables. It implements the part
 * of slurm/srun.ts that most steps need, and ignores the same options. A new allocation, a terminal, input, output files
 * and all other options are handed over to the Node program.
 */
#include "launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PATH 4096

enum place { TASKS, NODES, PER_NODE, JOB, MPI, EXPORT, CPUS, PLACES };
/* The effect of an option: its value is kept, it names nodes, it sets the label, or it is ignored. */
enum kind { KEPT, HOSTS, LABEL, IGNORED };
struct option {
  const char *name;
  char letter; /* 0 without a letter */
  enum kind kind;
  enum place place;
  enum { ALONE, MAYBE, VALUE } value;
};
static const struct option known[] = {
    {"ntasks", 'n', KEPT, TASKS, VALUE},
    {"nodes", 'N', KEPT, NODES, VALUE},
    {"ntasks-per-node", 0, KEPT, PER_NODE, VALUE},
    {"jobid", 0, KEPT, JOB, VALUE},
    {"mpi", 0, KEPT, MPI, VALUE},
    {"export", 0, KEPT, EXPORT, VALUE},
    {"cpus-per-task", 'c', KEPT, CPUS, VALUE},
    {"nodelist", 'w', HOSTS, PLACES, VALUE},
    {"label", 'l', LABEL, PLACES, ALONE},
    {"unbuffered", 'u', IGNORED, PLACES, ALONE},
    {"exact", 0, IGNORED, PLACES, ALONE},
    {"overlap", 0, IGNORED, PLACES, ALONE},
    {"whole", 0, IGNORED, PLACES, ALONE},
    {"exclusive", 0, IGNORED, PLACES, MAYBE},
    {"kill-on-bad-exit", 'K', IGNORED, PLACES, MAYBE},
    {"cpu-bind", 0, IGNORED, PLACES, VALUE},
    {"job-name", 'J', IGNORED, PLACES, VALUE},
    {"time", 't', IGNORED, PLACES, VALUE},
    {"partition", 'p', IGNORED, PLACES, VALUE},
    {"account", 'A', IGNORED, PLACES, VALUE},
    {"mem", 0, IGNORED, PLACES, VALUE},
    {"mem-per-cpu", 0, IGNORED, PLACES, VALUE},
    {"gres", 0, IGNORED, PLACES, VALUE},
    {"gpus-per-task", 0, IGNORED, PLACES, VALUE},
    {"hint", 0, IGNORED, PLACES, VALUE},
};

/* Finds an option by its full name or letter; `*value` is the value in the same word, or NULL. */
static const struct option *option_in(const char *word, const char **value) {
  *value = NULL;
  for (size_t at = 0; at < sizeof known / sizeof *known; at++) {
    const struct option *option = &known[at];
    size_t length = strlen(option->name);
    if (word[1] != '-') {
      if (word[1] != option->letter || option->letter == 0) continue;
      if (word[2] != 0) *value = word + 2;
      return option;
    }
    if (strncmp(word + 2, option->name, length) != 0) continue;
    if (word[2 + length] == '=') *value = word + 3 + length;
    if (word[2 + length] == 0 || *value != NULL) return option;
  }
  hand_over();
}

/* Adds the first `most` comma-separated names; -1 adds all. */
static void add_hosts(struct text *list, const char *names, long most) {
  if (strpbrk(names, "[]") != NULL) hand_over();
  char *copy = strdup(check_ascii(names)), *rest = copy, *name;
  while (most != 0 && (name = strsep(&rest, ",")) != NULL) {
    if (*name == 0) continue;
    add_word(list, name);
    most--;
  }
  free(copy);
}

static long hosts_in(const char *names) {
  long count = 0;
  for (const char *at = names; at != NULL && *at != 0; at += strcspn(at, ","), at += *at == ',')
    if (*at != ',') count++;
  return count;
}

/* Variables that describe where a program runs, and tokens. The same list as in slurm/variables.ts. */
static int is_never_exported(const char *pair) {
  static const char *const prefixes[] = {"LATTICE_", "SLURM_", "SLURMD_", "SBATCH_", "SALLOC_", "SRUN_", "PMI_", "PMIX_",
                                      "HYDRA_", "MPI_LOCAL", "OMPI_MCA_plm", "PRTE_MCA_plm", "FI_CXI_"};
  static const char *const names[] = {"_", "PWD", "OLDPWD", "SHLVL", "TERM", "HOME", "USER", "LOGNAME", "SHELL",
                                      "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
  size_t length = strcspn(pair, "=");
  if (length == 0 || strcspn(pair, " \t\r\n\v\f") < length) return 1;
  /* Inside a task, LD_PRELOAD was set by its node and is valid there only. */
  if (getenv("LATTICE_LAUNCH_ID") != NULL && strncmp(pair, "LD_PRELOAD=", 11) == 0) return 1;
  for (size_t at = 0; at < sizeof prefixes / sizeof *prefixes; at++)
    if (strncmp(pair, prefixes[at], strlen(prefixes[at])) == 0) return 1;
  for (size_t at = 0; at < sizeof names / sizeof *names; at++)
    if (strlen(names[at]) == length && strncmp(pair, names[at], length) == 0) return 1;
  return 0;
}

static void add_variable(struct text *list, const char *pair) {
  for (const char *at = pair; *at != 0; at++)
    if ((unsigned char)*at >= 0x80) hand_over();
  add_pair(list, pair);
}

static void add_exported(struct text *list, const char *names) {
  char *copy = strdup(names), *rest = copy, *name;
  while ((name = strsep(&rest, ",")) != NULL) {
    if (*name == 0 || strcmp(name, "NONE") == 0 || strcmp(name, "NIL") == 0) continue;
    if (strcmp(name, "ALL") == 0) {
      for (char **pair = environ; *pair != NULL; pair++)
        if (!is_never_exported(*pair)) add_variable(list, *pair);
    } else if (strchr(name, '=') != NULL) {
      add_variable(list, name);
    } else {
      const char *value = getenv(name);
      char *pair;
      /* The Node program warns about a variable that is not set. */
      if (value == NULL || asprintf(&pair, "%s=%s", name, value) < 0) hand_over();
      add_variable(list, pair);
      free(pair);
    }
  }
  free(copy);
}

/* Sets the number of tasks: -n, or one per node with -N alone; without both the server uses the job's own. */
static void set_layout(struct flags *flags, const char *const kept[]) {
  static char per_node[24];
  if (kept[TASKS] != NULL) {
    const char *all = getenv("LATTICE_NNODES");
    long tasks = atol(kept[TASKS]), on = kept[NODES] != NULL ? atol(kept[NODES]) : all == NULL ? 0 : atol(all);
    if (on < 1) on = 1;
    if (on > tasks) on = tasks;
    snprintf(per_node, sizeof per_node, "%ld", (tasks + on - 1) / on);
    flags->tasks = kept[TASKS];
    flags->tasks_per_node = kept[PER_NODE] != NULL ? kept[PER_NODE] : per_node;
  } else if (kept[PER_NODE] != NULL) {
    flags->tasks_per_node = kept[PER_NODE];
  } else if (kept[NODES] != NULL) {
    flags->tasks = kept[NODES];
    flags->tasks_per_node = "1";
  }
}

/* Piped input is for the tasks, which only the Node program supports. */
static void hand_over_input(void) {
  struct stat stdin_is;
  if (fstat(STDIN_FILENO, &stdin_is) != 0) hand_over();
  if (S_ISFIFO(stdin_is.st_mode) || S_ISREG(stdin_is.st_mode) || S_ISSOCK(stdin_is.st_mode)) hand_over();
}

char **read_step(struct flags *flags, char **words) {
  const char *kept[PLACES] = {0};
  static char here[MAX_PATH];
  for (; *words != NULL && **words == '-'; words++) {
    if (strcmp(*words, "--") == 0) {
      words++;
      break;
    }
    const char *value;
    const struct option *option = option_in(*words, &value);
    if (option->value == ALONE && value != NULL) hand_over();
    if (option->value == VALUE && value == NULL && (value = *++words) == NULL) hand_over();
    if (option->kind == KEPT) kept[option->place] = check_ascii(value);
    if (option->kind == HOSTS) add_hosts(&flags->nodes, value, -1);
    if (option->kind == LABEL) flags->labelled = 1;
  }
  for (enum place place = TASKS; place <= PER_NODE; place++)
    if (kept[place] != NULL) check_count(kept[place]);
  flags->alloc = kept[JOB] != NULL ? kept[JOB] : env_value("LATTICE_ALLOC_ID");
  if (flags->alloc == NULL) flags->alloc = env_value("SLURM_JOB_ID");
  if (flags->alloc == NULL) hand_over();
  hand_over_input();
  set_layout(flags, kept);
  const char *all = getenv("LATTICE_NODELIST");
  if (flags->nodes.length == 0 && kept[NODES] != NULL && atol(kept[NODES]) < hosts_in(all))
    add_hosts(&flags->nodes, all, atol(kept[NODES]));
  if (kept[MPI] != NULL) flags->pmi = pmi_mode(kept[MPI]);
  const char *exported = kept[EXPORT] != NULL ? kept[EXPORT] : env_value("SLURM_EXPORT_ENV");
  add_exported(&flags->variables, exported != NULL ? exported : "ALL");
  if (kept[CPUS] != NULL) {
    char *pair;
    if (asprintf(&pair, "SLURM_CPUS_PER_TASK=%s", kept[CPUS]) < 0) hand_over();
    add_variable(&flags->variables, pair);
    free(pair);
  }
  flags->workdir = check_ascii(getcwd(here, sizeof here));
  /* A script that runs on one node only has no counterpart calls. */
  flags->alone = getenv("LATTICE_SCRIPT_ONCE") != NULL;
  return words;
}
