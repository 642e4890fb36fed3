// Returns allocations to the queue when their backoff ends.

import { duration } from "@lattice/core";
import type { ControllerContext } from "../context/context.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideRestarts } from "./decide.ts";

export const restartsController = ({ replica, sequencer, clock }: ControllerContext): Controller => ({
  name: "restarts",
  every: duration(250),
  run: async () => {
    await Promise.all(decideRestarts(replica.view, clock.now()).map((command) => sequencer.propose(command)));
  },
});
