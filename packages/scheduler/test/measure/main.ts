// Measures in a process of its own, and prints one JSON value: `cycles {"nodes":...}`, `why {"nodes":...}`,
// `estimates {"seeds":[1],"spacing":0}` or `gaps {"instances":500,"shape":"half"}`.

import { type Accuracy, experiment } from "../estimate-accuracy.ts";
import { gapOf } from "../gap/exact.ts";
import { instanceOf, type Shape } from "../gap/instance.ts";
import { type CyclesWanted, measureCycles } from "./cycles.ts";
import { measureWhy, type WhyWanted } from "./why.ts";

interface GapsWanted {
  readonly instances: number;
  readonly shape: Shape;
}

const measureGaps = ({ instances, shape }: GapsWanted): number[] =>
  Array.from({ length: instances }, (_, seed) => gapOf(instanceOf(seed + 1, shape)));

interface EstimatesWanted {
  readonly seeds: readonly number[];
  readonly spacing: number;
}

const measureEstimates = ({ seeds, spacing }: EstimatesWanted): readonly Accuracy[] =>
  seeds.map((seed) => experiment(seed, { spacing }));

const [what, given = ""] = process.argv.slice(2);
const measured =
  what === "cycles"
    ? measureCycles(JSON.parse(given) as CyclesWanted)
    : what === "why"
      ? measureWhy(JSON.parse(given) as WhyWanted)
      : what === "estimates"
        ? measureEstimates(JSON.parse(given) as EstimatesWanted)
        : measureGaps(JSON.parse(given) as GapsWanted);
process.stdout.write(JSON.stringify(measured));
