// The command line of rm-replay: words in, results out. Refusals go to stderr with the file and line they
// are about and end with status 2, before anything is written; status 1 is a failure to write, or a check
// that did not pass.

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

export interface Surroundings {
  readonly version: string;
  readonly streams: Streams;
  /** The built program, for worker threads; null: none are to be had. */
  readonly entry: string | null;
}

const BAD_INPUT = 2;
const FAILED = 1;

/** A check that did not pass has already said so. */
class MarkMissed extends Error {}

/** Does as the words say; answers the exit status. */
export async function runReplay(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { err } = surroundings.streams;
  try {
    await programFor(surroundings).parseAsync([...words], { from: "user" });
    return 0;
  } catch (error) {
    // Commander has already said what is wrong, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : BAD_INPUT;
    if (error instanceof MarkMissed) return FAILED;
    if (error instanceof BadInput) {
      err.write(`rm-replay: ${error.message}\n`);
      return BAD_INPUT;
    }
    if (!(error instanceof Error && "syscall" in error)) throw error;
    err.write(`rm-replay: ${error.message}\n`);
    return error.syscall === "open" || error.syscall === "read" ? BAD_INPUT : FAILED;
  }
}

function programFor({ version, streams, entry }: Surroundings): Command {
  const { out, err } = streams;
  const program = new Command("rm-replay")
    .description("Replays a workload trace through the scheduler in simulated time.")
    .version(version)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: (text) => err.write(text) });
  withInputs(program)
    .addOption(new Option("--policy <name>", "who decides").choices(POLICY_NAMES).default("lattice"))
    .option("--perfect", "plan with run times instead of requested times")
    .option("--compare <folder...>", "results to stand beside; the first is the baseline")
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
    .option("--output <file>", "where to (default: standard output)")
    .action((name: RegressionName, options: GenerateOptions) => generateTrace(name, options, streams));
  program
    .command("check")
    .description("Replays the regression traces and holds them against their marks; status 1 when one is missed.")
    .addArgument(program.createArgument("[names...]").choices(REGRESSION_NAMES))
    .option("--seed <number>", "the same seed gives the same traces", seed, 1)
    .option("--jobs <count>", "about how many jobs in each", count)
    .action((names: readonly RegressionName[], options: CheckOptions) => {
      if (!checkRegressions(names, options, streams)) throw new MarkMissed();
    });
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

/** What a replay runs on, the same for `tune`. */
const withInputs = (command: Command): Command =>
  command
    .option("--trace <file>", "trace to replay: .swf or .jsonl, also with .gz")
    .option("--nodes <count|file>", "size of the machine, or its inventory (default: as the trace states)")
    .option("--weights <file>", "weight profiles (default: those of HPC batch)")
    .option("--processors-per-node <count>", "processors of the trace that make one node (default: found)", count)
    .option("--jobs <count>", "replay only the first so many jobs", count);
