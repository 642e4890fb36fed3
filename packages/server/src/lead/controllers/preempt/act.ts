// Proposes the preemptions of a cycle and counts the victims. The stop orders follow from the committed entries, and
// every leader repeats them until the nodes have answered, so a crash in between loses nothing.

import type { VClusterId } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import type { Logger } from "pino";
import type { Replica } from "../../../state/replica/replica.ts";
import type { Sequencer } from "../../commit/sequencer.ts";
import { decidePreemptions } from "./decide.ts";

interface PreemptContext {
  readonly replica: Pick<Replica, "view">;
  readonly sequencer: Sequencer;
  readonly logger: Logger;
  /** Called once per victim, with the victim's vCluster. */
  readonly onPreempted: (vcluster: VClusterId, reason: string) => void;
}

export async function carryOutPreemptions(
  context: PreemptContext,
  result: Pick<CycleResult, "basis" | "preemptions">,
): Promise<void> {
  const { replica, sequencer, logger, onPreempted } = context;
  for (const [n, command] of decidePreemptions(result).entries()) {
    const { outcome } = await sequencer.propose(command);
    const { allocation } = command;
    if (outcome.kind === "rejected") {
      logger.debug({ allocation, refusal: outcome.refusal }, "preemption rejected");
      continue;
    }
    for (const { allocation: victim, reason } of result.preemptions[n]?.victims ?? []) {
      logger.info({ allocation, victim, reason }, "preempting an allocation for another");
      const stopped = replica.view.allocation(victim);
      if (stopped !== undefined) onPreempted(stopped.spec.vcluster, reason);
    }
  }
}
