// Ends attempts that have exceeded their walltime. Agents enforce it themselves; the server steps in when one does not.

import { duration } from "@lattice/core";
import { monotonicNow } from "../../../base/clock.ts";
import type { ControllerContext } from "../context/context.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideExpired, type FirstSeen } from "./decide.ts";

/** How far past its walltime, grace included, an attempt may be before the server ends it. */
const WALLTIME_MARGIN = duration(60_000);

export function walltimeController({ replica, sequencer, clock }: ControllerContext): Controller {
  let seen: FirstSeen = new Map();
  return {
    name: "walltime",
    every: duration(5_000),
    run: async () => {
      const decided = decideExpired(replica.view, { now: monotonicNow(clock), seen, margin: WALLTIME_MARGIN });
      seen = decided.seen;
      await Promise.all(decided.expired.map((command) => sequencer.propose(command)));
    },
  };
}
