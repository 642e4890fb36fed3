// The classic policies on a machine of equal nodes, by their textbook definitions, so that published
// results can be compared. At each instant all ends, then all submissions, then one pass over the
// queue. `fcfs` starts the head while it fits. `easy` goes on: it gives the head a shadow time (the
// earliest instant at which it fits by requested times) and starts a later job only if that ends by
// then, or needs no more than the nodes that are spare even then.

import type { Trace, TraceJob } from "../trace/trace.ts";
import { createEventTimes } from "./event-times.ts";
import type { OnProgress, Outcome, Policy } from "./policy.ts";

export const fcfs: Policy = (trace, onProgress) => replayClassic(trace, onProgress, () => {});

export const easy: Policy = (trace, onProgress) => replayClassic(trace, onProgress, backfill);

interface Machine {
  free: number;
  /** Numbers of waiting jobs, in order. */
  queue: number[];
  /** Running jobs by requested end, then by number. */
  readonly running: { readonly job: number; readonly requestedEnd: number; readonly nodes: number }[];
  jobAt(number: number): TraceJob;
  start(number: number, backfilled: boolean): void;
}

function replayClassic(
  { jobs, nodes }: Trace,
  onProgress: OnProgress,
  behindHead: (machine: Machine, now: number) => void,
): readonly Outcome[] {
  const ends = createEventTimes();
  const outcomes: Outcome[] = new Array(jobs.length);
  let now = 0;
  let started = 0;
  let submitted = 0;
  const machine: Machine = {
    free: nodes,
    queue: [],
    running: [],
    jobAt: (number) => {
      const job = jobs[number];
      if (job === undefined) throw new Error(`job ${number} does not exist`);
      return job;
    },
    start(number, backfilled) {
      const job = machine.jobAt(number);
      outcomes[number] = { job, start: now, end: now + job.run, backfilled };
      machine.free -= job.nodes;
      ends.add(now + job.run, number);
      insertRunning(machine, { job: number, requestedEnd: now + job.request, nodes: job.nodes });
      started += 1;
    },
  };
  const nextSubmit = (): number => jobs[submitted]?.submit ?? Number.POSITIVE_INFINITY;
  while (ends.size > 0 || submitted < jobs.length) {
    now = Math.min(ends.nextTime(), nextSubmit());
    for (const number of ends.takeUntil(now)) {
      machine.free += machine.jobAt(number).nodes;
      removeRunning(machine, number, (outcomes[number]?.start ?? 0) + machine.jobAt(number).request);
    }
    for (; nextSubmit() <= now; submitted += 1) machine.queue.push(submitted);
    startHeads(machine);
    if (machine.queue.length > 1 && machine.free > 0) behindHead(machine, now);
    onProgress(started);
  }
  return outcomes;
}

function startHeads(machine: Machine): void {
  let count = 0;
  for (const number of machine.queue) {
    if (machine.jobAt(number).nodes > machine.free) break;
    machine.start(number, false);
    count += 1;
  }
  if (count > 0) machine.queue.splice(0, count);
}

function backfill(machine: Machine, now: number): void {
  const head = machine.queue[0];
  if (head === undefined) return;
  const { shadow, extra } = shadowOf(machine, machine.jobAt(head).nodes);
  let spare = extra;
  const waiting: number[] = [];
  for (const number of machine.queue) {
    const { nodes, request } = machine.jobAt(number);
    const endsInTime = now + request <= shadow;
    if (number === head || nodes > machine.free || (!endsInTime && nodes > spare)) {
      waiting.push(number);
      continue;
    }
    if (!endsInTime) spare -= nodes;
    machine.start(number, true);
  }
  machine.queue = waiting;
}

/** When the head fits by requested times, and how many nodes are free then beyond its need. */
function shadowOf(machine: Machine, need: number): { readonly shadow: number; readonly extra: number } {
  let free = machine.free;
  let shadow = Number.POSITIVE_INFINITY;
  for (const { requestedEnd, nodes } of machine.running) {
    if (free >= need && requestedEnd > shadow) break;
    free += nodes;
    if (free >= need && shadow === Number.POSITIVE_INFINITY) shadow = requestedEnd;
  }
  return { shadow, extra: free - need };
}

function insertRunning(machine: Machine, entry: Machine["running"][number]): void {
  machine.running.splice(positionOf(machine, entry.requestedEnd, entry.job), 0, entry);
}

function removeRunning(machine: Machine, job: number, requestedEnd: number): void {
  const at = positionOf(machine, requestedEnd, job);
  if (machine.running[at]?.job !== job) throw new Error(`job ${job} is not running`);
  machine.running.splice(at, 1);
}

/** Where an entry is, or belongs. */
function positionOf({ running }: Machine, requestedEnd: number, job: number): number {
  let low = 0;
  let high = running.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = running[middle];
    const before = entry !== undefined && (entry.requestedEnd - requestedEnd || entry.job - job) < 0;
    if (before) low = middle + 1;
    else high = middle;
  }
  return low;
}
