// Small random instances of the one question a solver answers: which of the waiting allocations to start on
// the free nodes. Four kinds of hardware, requests that any, half or a quarter of the nodes can take, and
// more asked for than there is. All run equally long, so that no reservation stands in the way, and all
// nodes are in one group: spanning no more groups than necessary is a rule, not a loss.

import { instant } from "@lattice/core";
import type { CycleInput } from "../../src/index.ts";
import { input, job, MINUTE, NOW, node, tenant } from "../make.ts";

/** The largest request as a part of the nodes. Large ones lose more: what is left beside them is hard to fill. */
export const SHAPES = { third: 1 / 3, half: 1 / 2 } as const;
export type Shape = keyof typeof SHAPES;

export function instanceOf(seed: number, shape: Shape): CycleInput {
  const random = generator(seed);
  const upTo = (most: number): number => Math.floor(random() * most);
  const nodes = Array.from({ length: 12 + upTo(25) }, (_, i) => {
    const gpus = random() < 0.5 ? 4 : 0;
    const features = random() < 0.5 ? ["fast"] : [];
    const conformance = random() < 0.8 ? "x" : "y";
    return node(`n${String(i).padStart(2, "0")}`, { gpuCount: gpus, features, conformance });
  });
  const pending = Array.from({ length: 10 + upTo(11) }, (_, i) => ({
    ...job(i + 1, {
      nodes: 1 + Math.floor(random() ** 3 * (nodes.length * SHAPES[shape])),
      class: upTo(11),
      tenant: random() < 0.5 ? "physics" : "biology",
      constraints: { gpuCount: random() < 0.3 ? 1 : 0, features: random() < 0.3 ? ["fast"] : [] },
    }),
    submittedAt: instant(NOW - upTo(600) * MINUTE),
  }));
  const tenants = [tenant("physics", { nodesInUse: upTo(nodes.length) }), tenant("biology")];
  return input({ nodes, pending, tenants, backfillDepth: 10, report: "full" });
}

/** The same numbers on every machine. */
function generator(seed: number): () => number {
  let state = (Math.imul(seed, 2_654_435_761) ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
