// `lattice launch`: runs tasks in a running allocation, called from outside or from its script. The output and exit
// status of the tasks become those of this program; Ctrl-C ends the tasks.

import type { LaunchRequest } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { type Command, Option } from "commander";
import { type Context, createContext } from "../context.ts";
import { readHandover, reconnectOptions, throwLaunchProblem } from "../launch/handover.ts";
import { inputTo, sendInput } from "../launch/input.ts";
import { TaskFailures } from "../launch/task-failures.ts";
import { labelledOutput, plainOutput, type TaskOutput } from "../launch/task-output.ts";
import { rawTerminal } from "../launch/terminal.ts";
import { collect, collectPair } from "../parse/collect.ts";
import { parseCount } from "../parse/count.ts";

interface LaunchFlags {
  readonly alloc?: string;
  readonly tasks?: number;
  readonly tasksPerNode?: number;
  readonly node?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  readonly pmi?: "pmi2" | "pmix" | "none";
  readonly pty?: boolean;
  readonly input?: boolean;
  readonly label?: boolean;
  readonly fenceTimeout?: number;
}

const MAX_TASKS = 10_000_000;
const INTERRUPTED = 130;

export function define(command: Command): void {
  command
    .usage("[flags] [--] command [args]")
    .argument("<words...>", "command of each task")
    .option("--alloc <id>", "allocation (default inside a job: the job's own)")
    .option("-n, --tasks <count>", "number of tasks", (text) => parseCount(text, 1, MAX_TASKS))
    .option("--tasks-per-node <count>", "tasks on each node", (text) => parseCount(text, 1, MAX_TASKS))
    .option("-w, --node <name>", "only this node of the allocation (repeatable)", collect)
    .option("-e, --env <name=value>", "variable for the tasks (repeatable)", collectPair)
    .option("--workdir <path>", "working directory of the tasks")
    .addOption(new Option("--pmi <mode>", "process management interface for MPI").choices(["pmi2", "pmix", "none"]))
    .option("--pty", "give the first task a terminal")
    .option("-i, --input", "the first task reads standard input")
    .option("-l, --label", "prefix every line with the task's rank")
    .option("--fence-timeout <seconds>", "time limit for a PMI fence", (text) => parseCount(text, 1, 86_400))
    .passThroughOptions()
    .action(async (words: string[], flags: LaunchFlags) => {
      process.exitCode = await launch(await createContext(command), words, flags);
    });
}

async function launch(context: Context, words: readonly string[], flags: LaunchFlags): Promise<number> {
  throwLaunchProblem(process.env.LATTICE_LAUNCH_PROBLEM);
  const { client, print } = context;
  const id = flags.alloc ?? process.env.LATTICE_ALLOC_ID;
  if (id === undefined || id === "") {
    throw new ProblemError("invalid_argument", {
      detail: "the allocation is missing",
      hint: "Give --alloc=ID, or run the command inside a job.",
    });
  }
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, interrupt);
  const terminal = flags.pty === true ? rawTerminal(process.stdin) : null;
  const failures = new TaskFailures();
  const handover = readHandover(process.env);
  const outlet = flags.label === true ? labelledOutput(write, handover?.partialLines) : plainOutput(write);
  const options = {
    signal: stop.signal,
    ...reconnectOptions(process.env),
    ...(handover && { resume: handover.resume }),
  };
  try {
    for await (const event of client.tasks.launch(id, requestOf(words, flags), options)) {
      if (print.structured)
        await print.streamed(event.kind === "output" ? { ...event, data: text(event.data) } : event);
      if (event.kind === "started" && (flags.input === true || flags.pty === true))
        sendInput(inputTo(client, id, event.launchId, flags.pty === true), process.stdin, stop.signal);
      if (event.kind === "output" && !print.structured) await outlet.write(event);
      if (event.kind === "task_end") failures.add(event);
      if (event.kind !== "end") continue;
      await outlet.end();
      if (!print.structured) for (const line of failures.lines()) print.note(line);
      if (event.reason !== "") print.note(`Launch failed: ${event.reason}`);
      return event.exitCode;
    }
    throw new ProblemError("connection_failed", {
      detail: "the server closed the launch stream before the tasks ended",
    });
  } catch (error) {
    if (stop.signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    terminal?.restore();
    stop.abort();
  }
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const write: TaskOutput["write"] = async ({ stream, data }) => {
  const to = stream === "stderr" ? process.stderr : process.stdout;
  if (!to.write(data)) await new Promise<void>((resolve) => to.once("drain", resolve));
};

function requestOf(words: readonly string[], flags: LaunchFlags): LaunchRequest {
  return {
    command: words,
    ...(flags.tasks === undefined ? {} : { tasks: flags.tasks }),
    ...(flags.tasksPerNode === undefined ? {} : { tasks_per_node: flags.tasksPerNode }),
    ...(flags.node === undefined ? {} : { nodes: flags.node }),
    ...(flags.env === undefined ? {} : { variables: flags.env }),
    ...(flags.workdir === undefined ? insideWorkdir(flags) : { workdir: flags.workdir }),
    ...(flags.pmi === undefined ? {} : { pmi: flags.pmi }),
    ...(flags.pty === true ? { pty: true, ...sizeOf(process.stdout) } : {}),
    ...(flags.input === true ? { input: true } : {}),
    ...(flags.fenceTimeout === undefined ? {} : { fence_timeout_seconds: flags.fenceTimeout }),
    ...callerOf(flags),
  };
}

/** Inside a job, tasks start in the current directory of the script. */
const insideWorkdir = (flags: LaunchFlags): { workdir?: string } => (isInside(flags) ? { workdir: process.cwd() } : {});

/** A script runs on every node of its allocation; the server merges the calls of all nodes into one launch. */
function callerOf(flags: LaunchFlags): Pick<LaunchRequest, "caller_node" | "caller_attempt"> {
  const { LATTICE_NODE: node, LATTICE_ATTEMPT: attempt, LATTICE_LAUNCH_ID: task } = process.env;
  // A launch from inside a task has no counterpart on other nodes.
  if (!isInside(flags) || node === undefined || attempt === undefined || task !== undefined) return {};
  return { caller_node: node, caller_attempt: Number(attempt) };
}

const isInside = (flags: LaunchFlags): boolean =>
  process.env.LATTICE_ALLOC_ID !== undefined &&
  (flags.alloc ?? process.env.LATTICE_ALLOC_ID) === process.env.LATTICE_ALLOC_ID;

const sizeOf = (to: NodeJS.WriteStream): { rows?: number; columns?: number } =>
  to.isTTY === true ? { rows: to.rows, columns: to.columns } : {};
