// The leader's planner as the rest of the server sees it: started when a term begins, ended with it. While a planner is
// replaced by another nothing is planned, questions are refused, and everything else works.

import { duration, type Instant, type VClusterId } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type {
  CallFacts,
  CycleReply,
  MeasuredFacts,
  PlannerAnswer,
  PlannerQuestion,
  PlannerQuestionKind,
} from "./messages.ts";
import { type PublishedCycle, publish } from "./published.ts";
import { PlannerTerm, type TermParts } from "./term.ts";

/** A question waits this long for a planner that starts; that of a small cluster takes a tenth of a second. */
const START_WAIT = duration(2_000);

interface PlannerLinkParts extends Omit<TermParts, "cycles" | "measured"> {
  readonly settings: () => Omit<CallFacts, "now">;
  readonly measured: (now: Instant) => MeasuredFacts;
}

export interface PlannerLink {
  /** The newest published cycle of each vCluster in this term. */
  readonly cycles: ReadonlyMap<VClusterId, PublishedCycle>;
  /** Starts a planner on the present state. */
  open(): void;
  close(): void;
  /** Resolves when a planner can plan, when the link is closed, or at the abort. */
  ready(signal: AbortSignal): Promise<void>;
  /** Returns `null` when there is no such vCluster. Rejects when the planner ends or fails. */
  cycle(vcluster: VClusterId, now: Instant): Promise<PublishedCycle | null>;
  /** Rejects with the problem of the request, or with `scheduler_restarting`. */
  ask<K extends PlannerQuestionKind>(question: PlannerQuestion<K>): Promise<PlannerAnswer<K>>;
}

export function createPlannerLink(parts: PlannerLinkParts): PlannerLink {
  const { clock, settings } = parts;
  const cycles = new Map<VClusterId, PublishedCycle>();
  let term: PlannerTerm | null = null;

  return {
    cycles,
    open() {
      term = new PlannerTerm({ ...parts, measured: () => parts.measured(clock.now()), cycles });
    },
    close() {
      term?.close();
      term = null;
      cycles.clear();
    },
    ready: async (signal) => term?.ready(signal),
    async cycle(vcluster, now) {
      const planner = term?.planner();
      if (!planner) throw restarting();
      const reply = await planner.call({ kind: "cycle", facts: { ...settings(), now }, vcluster });
      if (reply === null) return null;
      const published = publish(reply as CycleReply, cycles.get(vcluster));
      cycles.set(vcluster, published);
      return published;
    },
    async ask<K extends PlannerQuestionKind>(question: PlannerQuestion<K>) {
      await waitForPlanner();
      const planner = term?.planner();
      if (!planner) throw restarting();
      const facts = { ...settings(), now: clock.now() };
      const answer = await planner
        .call({ kind: "ask", facts, question: question as PlannerQuestion })
        .catch((error) => {
          throw planner.hasEnded() ? restarting() : error;
        });
      return answer as PlannerAnswer<K>;
    },
  };

  async function waitForPlanner(): Promise<void> {
    if (!term || term.planner() !== null) return;
    const late = new AbortController();
    const cancel = clock.after(START_WAIT, () => late.abort());
    await term.ready(late.signal);
    cancel();
  }
}

const restarting = (): ProblemError =>
  new ProblemError("scheduler_restarting", { detail: "The scheduler of the leader is restarting." });
