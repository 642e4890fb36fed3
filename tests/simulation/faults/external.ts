// Faults of external systems.

import type { Fault } from "./faults.ts";

const MINUTE = 60_000;

export const externalFaults: readonly Fault[] = [
  {
    kind: "fabric_away",
    everyMs: 3 * MINUTE,
    strike({ world, external: { fabric } }, random) {
      fabric.goAway();
      world.after(random.pick([1_000, 8_000, 40_000]), fabric.comeBack);
      return true;
    },
  },
  {
    kind: "receiver_away",
    everyMs: 4 * MINUTE,
    strike({ world, external: { receiver } }, random) {
      receiver.goAway();
      world.after(random.pick([2_000, 15_000, 90_000]), receiver.comeBack);
      return true;
    },
  },
  {
    kind: "fabric_forgets",
    everyMs: 8 * MINUTE,
    strike: ({ external: { fabric } }, random) => fabric.forget(random),
  },
];
