// Hints for commands and flags of Slurm, Kubernetes, HyperQueue and Nomad that Lattice does not have. Without
// an entry here the nearest name is suggested.

const SLURM = "lattice compat install DIR adds the Slurm commands";

/** The hint for a command, by the word that was typed. */
const COMMANDS: Readonly<Record<string, string>> = {
  ...named("Did you mean: lattice status", ["ps", "queue", "jobs", "job", "list", "ls", "get", "show", "q", "qstat"]),
  describe: "Did you mean: lattice status ID",
  ...named("Did you mean: lattice cancel ID", ["delete", "del", "kill", "stop", "rm", "abort", "qdel", "terminate"]),
  ...named("Did you mean: lattice submit -- COMMAND", ["run", "start", "create", "apply", "exec-batch", "qsub"]),
  ...named("Did you mean: lattice session, or: lattice attach ID", ["exec", "ssh", "shell", "bash", "interactive"]),
  ...named("Did you mean: lattice nodes", ["info", "node-list", "hosts", "workers", "worker", "alloc-nodes"]),
  ...named("Did you mean: lattice logs ID", ["log", "cat", "output", "tail", "stdout"]),
  ...named("Did you mean: lattice why ID", ["explain", "reason"]),
  ...named("Did you mean: lattice history", ["accounting", "acct", "past"]),
  ...named("Did you mean: lattice node drain NODE", ["drain", "cordon"]),
  ...named("Did you mean: lattice node undrain NODE", ["undrain", "uncordon"]),
  ...named("Did you mean: lattice requeue ID", ["restart", "retry"]),
  ...named("Did you mean: lattice hold ID", ["suspend", "pause"]),
  ...named("Did you mean: lattice release ID", ["unhold", "unpause"]),
  ...named("Did you mean: lattice watch ID, or: lattice submit --wait", ["wait", "follow"]),
  ...named("Did you mean: lattice up", ["server", "cluster", "agent", "dev"]),
  ...named("Did you mean: lattice dag", ["workflow", "workflows", "pipeline"]),
  ...named("Did you mean: lattice usage", ["quota", "quotas", "share"]),
  ...named("Did you mean: lattice top", ["stats", "dashboard", "htop"]),
  tenant: "Did you mean: lattice admin tenant",
  partition: "Did you mean: lattice admin vcluster",
  vcluster: "Did you mean: lattice admin vcluster",
  config: "Did you mean: lattice admin config",
  sbatch: `Run: lattice submit SCRIPT; or ${SLURM}`,
  srun: `Run: lattice submit --wait -- COMMAND; or ${SLURM}`,
  salloc: `Run: lattice session; or ${SLURM}`,
  squeue: `Run: lattice status; or ${SLURM}`,
  scancel: `Run: lattice cancel ID; or ${SLURM}`,
  sinfo: `Run: lattice nodes; or ${SLURM}`,
  sacct: `Run: lattice history; or ${SLURM}`,
  scontrol: `Run: lattice status ID; or ${SLURM}`,
};

/** The hint for a flag of submissions. */
const SUBMIT_FLAGS: Readonly<Record<string, string>> = {
  ...named("The name of this flag is --task-group, for example --task-group=0-99", ["--array", "-a"]),
  ...named("The names are --nodes for nodes and --tasks-per-node for tasks on each", ["-n", "--ntasks", "--np"]),
  ...named("The name of this flag is --vcluster", ["-p", "--partition", "--queue", "-Q", "--qos"]),
  ...named("The name of this flag is --cpus (cores on each node)", ["-c", "--cpus-per-task", "--cpu", "--cores"]),
  ...named("The name of this flag is --gpus, for example --gpus=2 or --gpus=H100:2", ["--gres", "-G", "--gpu"]),
  ...named("The name of this flag is --mem, for example --mem=64G", ["--memory", "--ram", "-m"]),
  ...named("The name of this flag is --walltime, for example --walltime=2h", ["--time", "--time-limit", "--timeout"]),
  ...named("The name of this flag is --tenant", ["-A", "--account"]),
  ...named("The name of this flag is --name", ["-J", "--job-name"]),
  ...named("The name of this flag is --workdir", ["-D", "--chdir", "--cwd"]),
  ...named("The name of this flag is --error-file, together with --output-file", ["-e", "--error", "--stderr"]),
  ...named("The name of this flag is --output-file", ["--stdout", "--log"]),
  ...named("The name of this flag is --depends-on, for example --depends-on=12:success", [
    "-d",
    "--dependency",
    "--after",
  ]),
  ...named("The name of this flag is --constraint", ["-C", "--nodelist", "-w", "-x", "--exclude"]),
  ...named("The name of this flag is --env, for example --env A=1", ["--export", "-E"]),
  ...named("The name of this flag is --wait", ["-W"]),
  ...named("The name of this flag is --image", ["--container", "--docker", "--container-image"]),
  ...named("The name of this flag is --data-mount", ["--mount", "--volume"]),
  ...named("The name of this flag is --tag, for example --tag k=v", ["--label", "-l", "--comment"]),
};

/** Commands that take the flags of submissions. */
const SUBMITTING = ["submit", "plan", "session"];

export function meantCommand(word: string): string | null {
  return Object.hasOwn(COMMANDS, word) ? (COMMANDS[word] ?? null) : null;
}

/** `path`: the called command and its parents. */
export function meantFlag(flag: string, path: readonly string[]): string | null {
  if (!SUBMITTING.includes(path[0] ?? "")) return null;
  return Object.hasOwn(SUBMIT_FLAGS, flag) ? (SUBMIT_FLAGS[flag] ?? null) : null;
}

function named(hint: string, words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => [word, hint]));
}
