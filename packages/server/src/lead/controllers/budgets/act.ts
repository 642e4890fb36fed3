// Proposes the notices about exhausted budgets.

import { duration } from "@lattice/core";
import type { ControllerContext } from "../context/context.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideBudgets } from "./decide.ts";

export const budgetsController = ({ replica, sequencer, clock, config }: ControllerContext): Controller => ({
  name: "budgets",
  every: duration(30_000),
  run: async () => {
    const inputs = { now: clock.now(), periodDays: config().scheduling.budgetPeriodDays };
    await Promise.all(decideBudgets(replica.view, inputs).map((command) => sequencer.propose(command)));
  },
});
