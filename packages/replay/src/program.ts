// The command line of rm-replay. Errors go to stderr with their file and line and exit with status 2 before anything is
// written; status 1 is a failure to write, or a check that did not pass.

import { Command, CommanderError, Option } from "commander";
import { BadInput } from "./bad-input.ts";
import { type CheckOptions, checkRegressions } from "./commands/check.ts";
import { compareResults } from "./commands/compare.ts";
import { type GenerateOptions, generateTrace } from "./commands/generate.ts";
import { count, seed } from "./commands/numbers.ts";
import { type ReplayOptions, replayTrace } from "./commands/replay.ts";
import { type TuneOptions, tuneWeights } from "./commands/tune.ts";
import { POLICY_NAMES } from "./policy/choose.ts";
import { REGRESSION_NAMES, type RegressionName } from "./regression/traces.ts";
import type { Streams } from "./streams.ts";
import { OBJECTIVE_NAMES } from "./tune/objectives.ts";

interface ProgramOptions {
  readonly version: string;
  readonly streams: Streams;
  /** The built program, for worker threads; `null` when there are none. */
  readonly entry: string | null;
}

const BAD_INPUT = 2;
const FAILED = 1;

/** A check that did not pass; its message is already printed. */
class ThresholdMissed extends Error {}

/** Runs the command line; returns the exit status. */
export async function runReplay(words: readonly string[], surroundings: ProgramOptions): Promise<number> {
  const { err } = surroundings.streams;
  try {
    await programFor(surroundings).parseAsync([...words], { from: "user" });
    return 0;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : BAD_INPUT;
    if (error instanceof ThresholdMissed) return FAILED;
    if (error instanceof BadInput) {
      err.write(`rm-replay: ${error.message}\n`);
      return BAD_INPUT;
    }
    if (!(error instanceof Error && "syscall" in error)) throw error;
    err.write(`rm-replay: ${error.message}\n`);
    return error.syscall === "open" || error.syscall === "read" ? BAD_INPUT : FAILED;
  }
}

function programFor({ version, streams, entry }: ProgramOptions): Command {
  const { out, err } = streams;
  const program = new Command("rm-replay")
    .description("Replays a workload trace through the scheduler in simulated time.")
    .version(version)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: (text) => err.write(text) });
  withInputs(program)
    .addOption(new Option("--policy <name>", "scheduling policy").choices(POLICY_NAMES).default("lattice"))
    .option("--perfect", "plan with run times instead of requested times")
    .option("--compare <folder...>", "earlier results to compare with; the first is the baseline")
    .option("--output <folder>", "write summary.json, allocations.csv and report.html there")
    .action((options: ReplayOptions) =>
      options.trace === undefined && options.compare !== undefined
        ? compareResults(options.compare, options.output ?? null, streams)
        : replayTrace(options, streams),
    );
  withInputs(program.command("tune"))
    .description("Searches the weights for an objective and shows the trade-offs.")
    .addOption(new Option("--objective <name>", "what to improve").choices(OBJECTIVE_NAMES).default("slowdown"))
    .addOption(new Option("--against <name>", "what it costs").choices(OBJECTIVE_NAMES).default("p99-wait"))
    .option("--budget <count>", "how many weight profiles to try", count, 40)
    .option("--seed <number>", "the same seed gives the same search", seed, 1)
    .option("--workers <count>", "threads to replay on", count, 1)
    .option("--output <folder>", "write front.json, best.yaml and report.html there")
    .action((options: TuneOptions) => tuneWeights(options, streams, entry));
  program
    .command("generate")
    .description(`Makes a seeded trace: ${REGRESSION_NAMES.join(", ")}.`)
    .addArgument(program.createArgument("<name>").choices(REGRESSION_NAMES))
    .option("--seed <number>", "the same seed gives the same trace", seed, 1)
    .option("--jobs <count>", "about how many jobs", count)
    .option("--output <file>", "output file (default: standard output)")
    .action((name: RegressionName, options: GenerateOptions) => generateTrace(name, options, streams));
  program
    .command("check")
    .description("Replays the regression traces and compares them with their thresholds; status 1 when one fails.")
    .addArgument(program.createArgument("[names...]").choices(REGRESSION_NAMES))
    .option("--seed <number>", "the same seed gives the same traces", seed, 1)
    .option("--jobs <count>", "about how many jobs in each", count)
    .action((names: readonly RegressionName[], options: CheckOptions) => {
      if (!checkRegressions(names, options, streams)) throw new ThresholdMissed();
    });
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

/** The inputs of a replay, also for `tune`. */
const withInputs = (command: Command): Command =>
  command
    .option("--trace <file>", "trace to replay: .swf or .jsonl, also with .gz")
    .option("--nodes <count|file>", "size of the machine, or its inventory (default: as the trace states)")
    .option("--weights <file>", "weight profiles (default: those of HPC batch)")
    .option("--processors-per-node <count>", "processors of the trace that make one node (default: found)", count)
    .option("--jobs <count>", "replay only this many jobs", count);
