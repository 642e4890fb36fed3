// Clears notices of other clusters that were not met for a while.

import { duration } from "@lattice/core";
import type { ControllerContext } from "../context/context.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideGone } from "./decide.ts";

export const foreignController = ({ replica, sequencer, clock }: ControllerContext): Controller => ({
  name: "foreign",
  every: duration(30_000),
  run: async () => {
    await Promise.all(decideGone(replica.view, clock.now()).map((command) => sequencer.propose(command)));
  },
});
