// Quarantines nodes on which work keeps failing, and probes quarantined nodes.

import { duration } from "@lattice/core";
import type { ControllerContext } from "../context/context.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideFaults } from "./decide.ts";

export const faultsController = ({ replica, sequencer, clock, logger, config }: ControllerContext): Controller => ({
  name: "faults",
  every: duration(1_000),
  run: async () => {
    for (const command of decideFaults(replica.view, { now: clock.now(), faults: config().faults })) {
      const { outcome } = await sequencer.propose(command);
      const facts = { node: command.node, ...("reason" in command ? { reason: command.reason } : {}) };
      if (outcome.kind === "rejected")
        logger.warn({ ...facts, refusal: outcome.refusal }, "node quarantine rejected: the node stays in service");
      else logger.warn(facts, command.kind === "node.probe" ? "quarantined node is probed" : "node quarantined");
    }
  },
});
