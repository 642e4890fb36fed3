// The cost of `lattice why` for the leader: an explanation with its trials, asked of allocations all over the queue, from a
// cycle that is kept as the leader keeps it. Every few questions a new cycle is kept, whose first question has nothing
// warm to lean on.

import {
  type CycleRecord,
  createCycleCache,
  cycle,
  explain,
  recordCycle,
  snapshotFor,
  suggestions,
  TRIAL_BUDGET_MS,
} from "../../src/index.ts";
import { clusterOf, NOW, type Shape } from "./cluster.ts";

export interface WhyWanted extends Shape {
  readonly warmUp: number;
  readonly questions: number;
}

export interface WhyMeasured {
  readonly whyMs: readonly number[];
  /** Of the processor: what it would take on a machine with nothing else to do. */
  readonly workMs: readonly number[];
  readonly told: string;
}

/** Questions per kept cycle. */
const PER_CYCLE = 20;

export function measureWhy({ nodes, pending, warmUp, questions }: WhyWanted): WhyMeasured {
  const { state, vcluster } = clusterOf({ nodes, pending });
  const cache = createCycleCache();
  const [whyMs, workMs]: [number[], number[]] = [[], []];
  let study: CycleRecord | null = null;
  let [causes, helpful] = [0, 0];
  for (let n = -warmUp; n < questions; n += 1) {
    if (study === null || n % PER_CYCLE === 0) {
      study = recordCycle(snapshotFor(state, vcluster, NOW, () => true, { report: "full", cache })).record;
    }
    if (study === null) throw new Error("the queue was not ordered");
    const { id } = study.input.pending[(Math.abs(n) * 7919) % study.input.pending.length] ?? { id: null };
    if (id === null) throw new Error("no pending allocation");
    const used = process.cpuUsage();
    const began = performance.now();
    const deadline = began + TRIAL_BUDGET_MS;
    const told = explain(study, id);
    const expected = study.result.estimates.get(id) ?? null;
    const canContinue = () => performance.now() < deadline;
    const found = told?.startsNow === true ? [] : suggestions(study, id, { expected, others: [], cycle, canContinue });
    const ms = performance.now() - began;
    const { user, system } = process.cpuUsage(used);
    if (n < 0) continue;
    whyMs.push(ms);
    workMs.push((user + system) / 1000);
    causes += told?.causes.length ?? 0;
    helpful += found.length;
  }
  return { whyMs, workMs, told: `${questions} questions, ${causes} causes, ${helpful} suggestions` };
}
