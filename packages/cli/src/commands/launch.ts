// `lattice launch`: tasks in a running allocation, from outside or from inside its script. Their output
// comes here as if they ran here, and the exit status is theirs. Ctrl-C ends them.

import type { LaunchRequest } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { type Command, Option } from "commander";
import { type Context, createContext } from "../context.ts";
import { parseCount } from "../parse/count.ts";
import { gather, gatherPair } from "../parse/pairs.ts";
import { tellWhatBroke } from "./launch/broken.ts";
import { Failures } from "./launch/failures.ts";
import { inputTo, sendInput } from "./launch/input.ts";
import { labelled, type Outlet, plain } from "./launch/label.ts";
import { patienceOf, takenOver } from "./launch/taken-over.ts";
import { rawTerminal } from "./launch/terminal.ts";

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

const MOST_TASKS = 10_000_000;
const INTERRUPTED = 130;

export function define(command: Command): void {
  command
    .usage("[flags] [--] command [args]")
    .argument("<words...>", "the command that each task runs")
    .option("--alloc <id>", "allocation; inside a job, that of the job")
    .option("-n, --tasks <count>", "tasks altogether", (text) => parseCount(text, 1, MOST_TASKS))
    .option("--tasks-per-node <count>", "tasks on each node", (text) => parseCount(text, 1, MOST_TASKS))
    .option("-w, --node <name>", "only on this node of the allocation; may be repeated", gather)
    .option("-e, --env <name=value>", "variable for the tasks; may be repeated", gatherPair)
    .option("--workdir <path>", "where the tasks begin")
    .addOption(new Option("--pmi <mode>", "how MPI ranks find each other").choices(["pmi2", "pmix", "none"]))
    .option("--pty", "give the first task a terminal")
    .option("-i, --input", "the first task reads standard input")
    .option("-l, --label", "put the number of the task before every line")
    .option("--fence-timeout <seconds>", "longest wait for all ranks to find each other", (text) =>
      parseCount(text, 1, 86_400),
    )
    .passThroughOptions()
    .action(async (words: string[], flags: LaunchFlags) => {
      process.exitCode = await launch(await createContext(command), words, flags);
    });
}

async function launch(context: Context, words: readonly string[], flags: LaunchFlags): Promise<number> {
  tellWhatBroke(process.env.LATTICE_LAUNCH_PROBLEM);
  const { client, print } = context;
  const id = flags.alloc ?? process.env.LATTICE_ALLOC_ID;
  if (id === undefined || id === "") {
    throw new ProblemError("invalid_argument", {
      detail: "no allocation is named",
      hint: "Give --alloc=ID; inside a job it is known by itself.",
    });
  }
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, interrupt);
  const terminal = flags.pty === true ? rawTerminal(process.stdin) : null;
  const failures = new Failures();
  const before = takenOver(process.env);
  const outlet = flags.label === true ? labelled(write, before?.rests) : plain(write);
  const options = { signal: stop.signal, ...patienceOf(process.env), ...(before && { resume: before.resume }) };
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
    throw new ProblemError("connection_failed", { detail: "the launch broke off without an end" });
  } catch (error) {
    if (stop.signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    terminal?.restore();
    stop.abort();
  }
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const write: Outlet["write"] = async ({ stream, data }) => {
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

/** Inside the job its tasks begin where the script stands. */
const insideWorkdir = (flags: LaunchFlags): { workdir?: string } => (isInside(flags) ? { workdir: process.cwd() } : {});

/** A script runs on every node of its allocation: the calls of all of them are one launch. */
function callerOf(flags: LaunchFlags): Pick<LaunchRequest, "caller_node" | "caller_attempt"> {
  const { LATTICE_NODE: node, LATTICE_ATTEMPT: attempt, LATTICE_LAUNCH_ID: task } = process.env;
  // A task of a launch that launches is on its own: nobody else calls with it.
  if (!isInside(flags) || node === undefined || attempt === undefined || task !== undefined) return {};
  return { caller_node: node, caller_attempt: Number(attempt) };
}

const isInside = (flags: LaunchFlags): boolean =>
  process.env.LATTICE_ALLOC_ID !== undefined &&
  (flags.alloc ?? process.env.LATTICE_ALLOC_ID) === process.env.LATTICE_ALLOC_ID;

const sizeOf = (to: NodeJS.WriteStream): { rows?: number; columns?: number } =>
  to.isTTY === true ? { rows: to.rows, columns: to.columns } : {};
