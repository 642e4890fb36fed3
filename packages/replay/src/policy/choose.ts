// The policies by name, ready to run on a trace.

import type { Trace } from "../trace/trace.ts";
import type { ReplayPolicy } from "./base/policy.ts";
import { easy, easySjbf, fcfs } from "./classic/classic.ts";
import { latticeOn } from "./lattice/lattice.ts";
import { possibleOn } from "./lattice/possible.ts";
import { gpusOf, latticeSetup, roundingOf, type SetupOptions, tracedInventory } from "./lattice/setup.ts";

export const POLICY_NAMES = ["lattice", "easy", "easy-sjbf", "fcfs"] as const;
export type PolicyName = (typeof POLICY_NAMES)[number];

interface Chosen {
  readonly policy: ReplayPolicy;
  /** Without jobs that the machine could never run. */
  readonly trace: Trace;
  readonly gpus: number;
  readonly warnings: readonly string[];
}

export function choosePolicy(name: PolicyName, trace: Trace, options: SetupOptions): Chosen {
  const inventory = options.inventory ?? tracedInventory(trace);
  const gpus = inventory === null ? 0 : gpusOf(inventory);
  switch (name) {
    case "fcfs":
      return { policy: fcfs, trace, gpus, warnings: [] };
    case "easy":
      return { policy: easy, trace, gpus, warnings: [] };
    case "easy-sjbf":
      return { policy: easySjbf, trace, gpus, warnings: [] };
    case "lattice":
      return chooseLattice(trace, options, gpus);
  }
}

function chooseLattice(trace: Trace, options: SetupOptions, gpus: number): Chosen {
  const setup = latticeSetup(trace, options);
  const rounding = roundingOf(trace, setup.unit);
  const added = rounding === 0 ? "" : `; rounding up adds ${(rounding * 100).toFixed(2)} % of work`;
  const warnings = setup.unit === 1 ? [] : [`one node is taken for ${setup.unit} processors of the trace${added}`];
  return { policy: latticeOn(setup), trace: possibleOn(trace, setup), gpus, warnings };
}
