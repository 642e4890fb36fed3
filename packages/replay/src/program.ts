// The command line of rm-replay: options in, summary out. Refusals go to stderr with the file and line
// they are about, and end with status 1.

import { Command, InvalidArgumentError, Option } from "commander";
import { easy, fcfs } from "./policy/classic.ts";
import { lattice } from "./policy/lattice.ts";
import type { Policy } from "./policy/policy.ts";
import { progressOn, type Terminal } from "./progress.ts";
import { summaryText } from "./result/render.ts";
import { summarise } from "./result/summary.ts";
import { writeResults } from "./result/write.ts";
import { readTrace } from "./trace/read.ts";
import { TraceError } from "./trace/trace.ts";

export const POLICIES = { lattice, easy, fcfs } as const satisfies Record<string, Policy>;
export type PolicyName = keyof typeof POLICIES;

export interface Streams {
  readonly out: { write(text: string): unknown };
  readonly err: Terminal;
}

interface Options {
  readonly trace: string;
  readonly nodes?: number;
  readonly policy: PolicyName;
  readonly jobs?: number;
  readonly output?: string;
}

/** Replays as the words say; answers the exit status. */
export function runReplay(words: readonly string[], version: string, streams: Streams): number {
  let status = 0;
  const program = new Command("rm-replay")
    .description("Replays a workload trace through the scheduler in simulated time.")
    .version(version)
    .requiredOption("--trace <file>", "trace to replay: .swf or .jsonl, also with .gz")
    .option("--nodes <count>", "size of the machine (default: as the trace states)", positive)
    .addOption(new Option("--policy <name>", "who decides").choices(Object.keys(POLICIES)).default("lattice"))
    .option("--jobs <count>", "replay only the first so many jobs", positive)
    .option("--output <folder>", "write summary.json and allocations.csv there")
    .exitOverride()
    .configureOutput({ writeOut: (text) => streams.out.write(text), writeErr: (text) => streams.err.write(text) })
    .action((options: Options) => {
      status = replay(options, streams);
    });
  try {
    program.parse([...words], { from: "user" });
  } catch (error) {
    // Commander has already said what is wrong, or shown the help that was asked for.
    if (error instanceof Error && "exitCode" in error && typeof error.exitCode === "number") return error.exitCode;
    throw error;
  }
  return status;
}

function replay(options: Options, { out, err }: Streams): number {
  try {
    const trace = readTrace(options.trace, { nodes: options.nodes ?? null, jobs: options.jobs ?? null });
    const progress = progressOn(err, trace.jobs.length);
    const outcomes = POLICIES[options.policy](trace, progress.update);
    progress.end();
    const summary = summarise(options.policy, trace, outcomes);
    out.write(summaryText(summary));
    if (options.output !== undefined) writeResults(options.output, summary, outcomes);
    return 0;
  } catch (error) {
    const detail = refusalText(options, error);
    if (detail === null) throw error;
    err.write(`rm-replay: ${detail}\n`);
    return 1;
  }
}

/** Null when it is no refusal but a bug. */
function refusalText({ trace }: Options, error: unknown): string | null {
  if (error instanceof TraceError) return `${trace}${error.line === null ? "" : `:${error.line}`}: ${error.message}`;
  if (error instanceof Error && "syscall" in error) return error.message;
  return null;
}

/** More nodes than any machine has; as many as one replay can hold. */
const MAX_COUNT = 10_000_000;

function positive(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MAX_COUNT) return value;
  throw new InvalidArgumentError(`must be a whole number from 1 to ${MAX_COUNT}.`);
}
