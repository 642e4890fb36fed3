// The share of each tenant while the machine was contended. At evenly spaced instants the running and waiting nodes of
// each tenant are compared with its fair part: the machine divided by share targets, equally without targets, where no
// tenant gets more than it requests or may have, and the rest is divided again. Over a whole replay all work gets done,
// so only shares under contention distinguish policies.

import type { Outcomes } from "../policy/base/policy.ts";
import type { Trace } from "../trace/trace.ts";
import { jain } from "./statistics.ts";
import type { ReplaySpan } from "./timeline.ts";

export interface Shares {
  /** The largest gap between received and due nodes, as a part of all due nodes. */
  readonly maxDeviation: number;
  /** Jain's index over received / due of each tenant. */
  readonly jain: number;
  /** By tenant: its part of all received nodes, and of all due nodes, under contention. */
  readonly got: Float64Array;
  readonly due: Float64Array;
}

const SAMPLES = 400;
/** With very many tenants there are fewer samples: tenants times samples stay below this. */
const MAX_CELLS = 8_000_000;

export function sharesOf(trace: Trace, outcomes: Outcomes, span: ReplaySpan): Shares {
  const { tenants: names, limits } = trace;
  const tenants = names.length;
  const claims = claimsOf(names, limits);
  const samples = Math.max(1, Math.min(SAMPLES, Math.floor(MAX_CELLS / Math.max(1, tenants))));
  const step = (span.end - span.begin) / samples;
  const running = new Int32Array(tenants * (samples + 1));
  const waiting = new Int32Array(tenants * (samples + 1));
  // The first sample at or after a time; samples are in the middle of their steps.
  const sampleAt = (time: number): number =>
    Math.max(0, Math.min(samples, Math.ceil((time - span.begin) / step - 0.5)));
  for (let row = 0; row < trace.count && step > 0; row += 1) {
    const tenant = (trace.tenant[row] as number) * (samples + 1);
    const size = trace.size[row] as number;
    const submitted = sampleAt(trace.submit[row] as number);
    const started = sampleAt(outcomes.start[row] as number);
    const ended = sampleAt(outcomes.end[row] as number);
    change(waiting, tenant + submitted, size);
    change(waiting, tenant + started, -size);
    change(running, tenant + started, size);
    change(running, tenant + ended, -size);
  }
  const got = new Float64Array(tenants);
  const due = new Float64Array(tenants);
  const now = { runs: new Float64Array(tenants), wants: new Float64Array(tenants) };
  for (let sample = 0; sample < samples; sample += 1) {
    let queued = 0;
    for (let tenant = 0; tenant < tenants; tenant += 1) {
      const cell = tenant * (samples + 1) + sample;
      const runs = (now.runs[tenant] as number) + (running[cell] as number);
      const waits = (now.wants[tenant] as number) - (now.runs[tenant] as number) + (waiting[cell] as number);
      now.runs[tenant] = runs;
      now.wants[tenant] = runs + waits;
      queued += waits;
    }
    if (queued > 0) addSample(now, trace.nodes, claims, { got, due });
  }
  return judged(got, due);
}

function change(cells: Int32Array, cell: number, by: number): void {
  cells[cell] = (cells[cell] as number) + by;
}

interface Ledger {
  readonly got: Float64Array;
  readonly due: Float64Array;
}

/** Inputs of each tenant's due share. */
interface Claims {
  /** In any unit; `null` when all are equal. */
  readonly weights: Float64Array | null;
  /** The most each tenant may have. */
  readonly most: Float64Array;
}

/** A tenant without a target is due an equal part, as in the scheduler. */
function claimsOf(tenants: readonly string[], limits: Trace["limits"]): Claims {
  const most = new Float64Array(tenants.length).fill(Number.POSITIVE_INFINITY);
  const weights = new Float64Array(tenants.length).fill(Math.max(1, Math.round(1000 / Math.max(1, tenants.length))));
  for (const { name, quota } of limits) {
    const tenant = tenants.indexOf(name);
    if (quota.maxNodes !== null) most[tenant] = quota.maxNodes;
    if (quota.fairShareMilli !== null) weights[tenant] = quota.fairShareMilli;
  }
  return { most, weights: limits.some(({ quota }) => quota.fairShareMilli !== null) ? weights : null };
}

interface Now {
  readonly runs: Float64Array;
  readonly wants: Float64Array;
}

function addSample({ runs, wants }: Now, nodes: number, { most, weights }: Claims, { got, due }: Ledger): void {
  const asks = wants.map((want, tenant) => Math.min(want, most[tenant] as number));
  const level = fairLevel(asks, nodes, weights);
  for (let tenant = 0; tenant < got.length; tenant += 1) {
    const part = weights === null ? level : level * (weights[tenant] as number);
    got[tenant] = (got[tenant] as number) + (runs[tenant] as number);
    due[tenant] = (due[tenant] as number) + Math.min(asks[tenant] as number, part);
  }
}

/** Returns the most nodes per unit of weight, when all tenants with further demand get the same. */
export function fairLevel(wants: Float64Array, nodes: number, weights: Float64Array | null = null): number {
  if (weights !== null) return weightedLevel(wants, nodes, weights);
  const sorted = wants.filter((want) => want > 0).sort();
  let left = nodes;
  for (let i = 0; i < sorted.length; i += 1) {
    const each = left / (sorted.length - i);
    const want = sorted[i] as number;
    if (want > each) return each;
    left -= want;
  }
  return nodes;
}

function weightedLevel(wants: Float64Array, nodes: number, weights: Float64Array): number {
  const asking = Array.from(wants, (want, at) => ({ want, weight: weights[at] as number }))
    .filter(({ want, weight }) => want > 0 && weight > 0)
    .sort((a, b) => a.want / a.weight - b.want / b.weight);
  let weight = asking.reduce((sum, one) => sum + one.weight, 0);
  let left = nodes;
  for (const one of asking) {
    if (one.want / one.weight > left / weight) return left / weight;
    left -= one.want;
    weight -= one.weight;
  }
  return nodes;
}

function judged(got: Float64Array, due: Float64Array): Shares {
  const total = due.reduce((sum, value) => sum + value, 0);
  const ratios: number[] = [];
  let maxDeviation = 0;
  for (let tenant = 0; tenant < due.length; tenant += 1) {
    const mine = due[tenant] as number;
    if (mine <= 0) continue;
    ratios.push((got[tenant] as number) / mine);
    maxDeviation = Math.max(maxDeviation, Math.abs((got[tenant] as number) - mine) / total);
  }
  const parts = (values: Float64Array): Float64Array => {
    const sum = values.reduce((all, value) => all + value, 0);
    return values.map((value) => (sum === 0 ? 0 : value / sum));
  };
  return { maxDeviation, jain: jain(ratios), got: parts(got), due: parts(due) };
}
