// `rm-replay tune`: searches weights for an objective and shows the trade-off with another.

import { BadInput } from "../bad-input.ts";
import { possibleOn } from "../policy/lattice/possible.ts";
import { latticeSetup } from "../policy/lattice/setup.ts";
import { progressOn } from "../progress.ts";
import { writeFiles } from "../report/write.ts";
import type { Summary } from "../result/summary.ts";
import type { Streams } from "../streams.ts";
import type { WeightCandidate } from "../tune/candidate.ts";
import { frontOf } from "../tune/front.ts";
import { type ObjectiveName, objectives } from "../tune/objectives.ts";
import { frontHtml, frontJson, frontText, profileYaml } from "../tune/render.ts";
import { search } from "../tune/search.ts";
import { type TrialInput, tryCandidate } from "../tune/trial.ts";
import { startWorkers } from "../tune/worker.ts";
import { checkOutput, type InputOptions, readInputs } from "./inputs.ts";

export interface TuneOptions extends InputOptions {
  readonly objective: ObjectiveName;
  readonly against: ObjectiveName;
  readonly budget: number;
  readonly seed: number;
  readonly workers: number;
  readonly output?: string;
}

export async function tuneWeights(options: TuneOptions, { out, err }: Streams, entry: string | null): Promise<void> {
  checkOutput(options.output);
  if (options.objective === options.against) throw new BadInput("--against", null, "must differ from --objective");
  const inputs = await readInputs(options);
  for (const warning of inputs.warnings) err.write(`rm-replay: note: ${warning}\n`);
  const setup = latticeSetup(inputs.trace, inputs.setup);
  const start = setup.profiles[0];
  if (start === undefined) throw new Error("there is no vCluster");
  const trials = trialsOn({ trace: possibleOn(inputs.trace, setup), setup }, options.workers, entry);
  const progress = progressOn(err, options.budget);
  let tried = 0;
  const objective = objectives[options.objective];
  const against = objectives[options.against];
  try {
    const { budget, seed } = options;
    const tryAll = async (candidates: readonly WeightCandidate[]): Promise<readonly Summary[]> => {
      const summaries = await trials.tryAll(candidates);
      tried += candidates.length;
      progress.update(tried);
      return summaries;
    };
    const found = { trials: await search({ start, objective, against, budget, seed, tryAll }), objective, against };
    progress.end();
    out.write(frontText(found));
    const best = frontOf(found.trials)[0];
    if (options.output === undefined || best === undefined) return;
    writeFiles(options.output, [
      ["front.json", frontJson(found)],
      ["best.yaml", profileYaml(start.vcluster, best.candidate)],
      ["report.html", frontHtml(found)],
    ]);
  } finally {
    await trials.close();
  }
}

function trialsOn(input: TrialInput, workers: number, entry: string | null) {
  if (workers > 1 && entry !== null) return startWorkers(entry, workers, input);
  return {
    tryAll: async (candidates: readonly WeightCandidate[]) =>
      candidates.map((candidate) => tryCandidate(input, candidate)),
    close: async () => {},
  };
}
