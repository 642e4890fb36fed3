// Turns a command's failure into text and an exit status. Usage errors and problems of the server and the
// network have one form; any other error is a defect, with a stack trace under --verbose.

import { ERRORS, nearest, type Problem, ProblemError, problem, renderProblem } from "@lattice/wire";
import { CommanderError } from "commander";

/** The called command, for hints. */
interface Called {
  /** The command and its parents. */
  readonly path: readonly string[];
  /** The long flags that it takes. */
  readonly flags: readonly string[];
}

/** Prints the error and returns the exit status. */
export function reportError(error: unknown, argv: readonly string[], called: Called = { path: [], flags: [] }): number {
  const what = problemFrom(error, called);
  process.stderr.write(wantsJson(argv) ? `${JSON.stringify(what)}\n` : `${renderProblem(what)}\n`);
  const isDefect = !(error instanceof ProblemError) && !(error instanceof CommanderError);
  if (isDefect && error instanceof Error && argv.some((arg) => arg === "-v" || arg === "--verbose")) {
    process.stderr.write(`${error.stack ?? ""}\n`);
  }
  return ERRORS[what.code].exit;
}

function problemFrom(error: unknown, called: Called): Problem {
  if (error instanceof ProblemError)
    return error.problem.code === "unauthenticated" ? login(error.problem) : error.problem;
  if (error instanceof CommanderError) return usageProblem(error, called);
  const detail = error instanceof Error ? error.message : String(error);
  return problem("internal", {
    detail,
    hint: "This is a bug in lattice. Run again with --verbose and report the output.",
  });
}

/** Replaces the hint for programs by the command that a person needs. */
const login = (what: Problem): Problem =>
  what.hint === ERRORS.unauthenticated.hint
    ? { ...what, detail: `Not logged in. ${what.detail}`.trimEnd(), hint: "Run `lattice login` first." }
    : what;

/** Parses commander's "error: unknown command 'stats'\n(Did you mean status?)". */
function usageProblem(error: CommanderError, called: Called): Problem {
  const [first = "", ...rest] = error.message.split("\n");
  const suggestion = rest
    .join(" ")
    .trim()
    .replace(/^\(|\)$/g, "");
  const help = `Run: ${["lattice", ...called.path, "--help"].join(" ")}`;
  const detail = first.replace(/^error: /, "");
  return problem("invalid_argument", {
    detail: withoutFullStop(detail),
    hint: meant(detail, called) ?? (suggestion === "" ? (nearFlag(detail, called.flags) ?? help) : suggestion),
  });
}

const withoutFullStop = (text: string): string => text.replace(/\.$/, "");

/** Returns the hint for a word of another system. */
function meant(detail: string, { path }: Called): string | null {
  const word = /^unknown command '([^']*)'/.exec(detail)?.[1];
  if (word !== undefined) return path.length === 0 ? meantCommand(word) : null;
  const flag = unknownFlag(detail);
  if (flag !== null) return meantFlag(flag, path);
  const file = /^option '-o, --output <format>' argument '([^']*)' is invalid/.exec(detail)?.[1];
  if (file === undefined || !["submit", "plan"].includes(path[0] ?? "")) return null;
  return `--output is the format of the answer. To write the output of the job to a file: --output-file=${file}`;
}

/** Commander compares the flag together with its value. */
function nearFlag(detail: string, flags: readonly string[]): string | null {
  const flag = unknownFlag(detail);
  const close = flag?.startsWith("--")
    ? nearest(
        flag.slice(2),
        flags.map((long) => long.slice(2)),
      )
    : null;
  return close === null ? null : `Did you mean --${close}?`;
}

const unknownFlag = (detail: string): string | null => /^unknown option '(--?[^'=]+)/.exec(detail)?.[1] ?? null;

/** Reads the raw arguments, because the flags may be what could not be parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  return own.some(
    (arg, i) =>
      arg === "-ojson" || arg === "--output=json" || ((arg === "-o" || arg === "--output") && own[i + 1] === "json"),
  );
}

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
  ...named("Suspended work: lattice resume ID; other work: submit it again", ["restart", "retry", "requeue"]),
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

function meantCommand(word: string): string | null {
  return Object.hasOwn(COMMANDS, word) ? (COMMANDS[word] ?? null) : null;
}

/** `path`: the called command and its parents. */
function meantFlag(flag: string, path: readonly string[]): string | null {
  if (!SUBMITTING.includes(path[0] ?? "")) return null;
  return Object.hasOwn(SUBMIT_FLAGS, flag) ? (SUBMIT_FLAGS[flag] ?? null) : null;
}

function named(hint: string, words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => [word, hint]));
}
