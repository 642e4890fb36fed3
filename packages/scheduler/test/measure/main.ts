// Measures in a process of its own, and prints one JSON value: `cycles {"nodes":...}`, `why {"nodes":...}` or `gaps 500`.

import { gapOf } from "../gap/exact.ts";
import { instanceOf } from "../gap/instance.ts";
import { type CyclesWanted, measureCycles } from "./cycles.ts";
import { measureWhy, type WhyWanted } from "./why.ts";

const [what, given = ""] = process.argv.slice(2);
const measured =
  what === "cycles"
    ? measureCycles(JSON.parse(given) as CyclesWanted)
    : what === "why"
      ? measureWhy(JSON.parse(given) as WhyWanted)
      : Array.from({ length: Number(given) }, (_, seed) => gapOf(instanceOf(seed + 1)));
process.stdout.write(JSON.stringify(measured));
