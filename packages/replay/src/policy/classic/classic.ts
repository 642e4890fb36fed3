// The classic policies on a machine of equal nodes, by their textbook definitions, so that published results can be
// compared. At each instant: all ends, all submissions, one pass over the queue. `fcfs` starts the head while it fits.
// `easy` continues: it computes the shadow time of the head (the earliest instant at which it fits by requested times)
// and starts a later job only if it ends by then, or needs no more than the nodes that are spare even then. Rows are in
// queue order, so the head is the lowest row that has not started.

import type { Trace } from "../../trace/trace.ts";
import type { OnProgress, Outcomes, ReplayPolicy } from "../base/policy.ts";
import { nextEnd, takeEnd } from "./ends.ts";
import { type Backfill, type ClassicMachine, createMachine, NO_HEAD, start } from "./machine.ts";
import { findShadow, removeRelease } from "./releases.ts";
import { addByRequest, addLast, moveTail, put } from "./waiting.ts";

export const fcfs: ReplayPolicy = (trace, onProgress) => replay(trace, "none", onProgress);

export const easy: ReplayPolicy = (trace, onProgress) => replay(trace, "queue order", onProgress);

export const easySjbf: ReplayPolicy = (trace, onProgress) => replay(trace, "shortest first", onProgress);

function replay(trace: Trace, backfill: Backfill, onProgress: OnProgress): Outcomes {
  const machine = createMachine(trace, backfill, onProgress);
  while (machine.started < trace.count) {
    const now = Math.min(nextEnd(machine.ends), nextSubmission(machine));
    const first = machine.submitted;
    if (takeEnds(machine, now)) machine.shadowOf = NO_HEAD;
    takeSubmissions(machine, now);
    startHeads(machine, now);
    if (backfill === "none" || machine.free === 0 || machine.submitted - machine.head <= 1) continue;
    // The head is blocked as before and no node was released: a job that could not start then cannot start now.
    if (machine.shadowOf === machine.head) backfillNew(machine, first, now);
    else backfillAll(machine, now);
  }
  return machine.outcomes;
}

function nextSubmission({ trace, submitted }: ClassicMachine): number {
  return submitted < trace.count ? (trace.submit[submitted] as number) : Number.POSITIVE_INFINITY;
}

function takeEnds(machine: ClassicMachine, now: number): boolean {
  const { trace, ends, outcomes } = machine;
  if (nextEnd(ends) > now) return false;
  while (nextEnd(ends) <= now) {
    const row = takeEnd(ends);
    const size = trace.size[row] as number;
    machine.free += size;
    if (machine.backfill === "none") continue;
    removeRelease(machine.releases, (outcomes.start[row] as number) + (trace.request[row] as number), size);
  }
  return true;
}

function takeSubmissions(machine: ClassicMachine, now: number): void {
  const { trace, waiting, backfill } = machine;
  for (; nextSubmission(machine) <= now; machine.submitted += 1) {
    const row = machine.submitted;
    const size = trace.size[row] as number;
    const request = trace.request[row] as number;
    if (backfill === "queue order") addLast(waiting, row, size, request);
    else if (backfill === "shortest first") addByRequest(waiting, row, size, request);
  }
}

function startHeads(machine: ClassicMachine, now: number): void {
  const { isStarted, trace } = machine;
  for (; machine.head < machine.submitted; machine.head += 1) {
    const row = machine.head;
    if (isStarted[row] === 1) continue;
    if ((trace.size[row] as number) > machine.free) return;
    start(machine, row, now);
  }
}

// One backfill pass behind the head of the queue: a job starts if it fits now and either ends by the shadow time or
// needs no more than the extra nodes, which it then uses up. The shadow stays valid until a job ends or the head
// starts: jobs that end by the shadow time are gone by then, and the others have been subtracted from the extra nodes.
// Until then only new submissions can start, so only they are tried.

function backfillAll(machine: ClassicMachine, now: number): void {
  const { waiting, head, isStarted, shadow } = machine;
  const { rows, sizes, requests, length } = waiting;
  findShadow(machine.releases, machine.trace.size[head] as number, machine.free, shadow);
  machine.shadowOf = head;
  let kept = 0;
  let place = 0;
  for (; place < length && machine.free > 0; place += 1) {
    const row = rows[place] as number;
    if (isStarted[row] === 1) continue;
    const size = sizes[place] as number;
    const request = requests[place] as number;
    if (size <= machine.free && row !== head && tryStart(machine, row, size, now + request, now)) continue;
    if (kept !== place) put(waiting, kept, row, size, request);
    kept += 1;
  }
  if (kept === place) return;
  moveTail(waiting, place, kept);
  waiting.length -= place - kept;
}

/** Tries the rows from `first` on, all submitted at this instant. */
function backfillNew(machine: ClassicMachine, first: number, now: number): void {
  const { trace, submitted } = machine;
  const order = machine.backfill === "shortest first" && submitted - first > 1 ? byRequest(machine, first) : null;
  for (let i = 0; i < submitted - first; i += 1) {
    const row = order === null ? first + i : (order[i] as number);
    const size = trace.size[row] as number;
    if (size <= machine.free) tryStart(machine, row, size, now + (trace.request[row] as number), now);
  }
}

function tryStart(machine: ClassicMachine, row: number, size: number, endsBy: number, now: number): boolean {
  const { shadow } = machine;
  if (endsBy > shadow.time) {
    if (size > shadow.extra) return false;
    shadow.extra -= size;
  }
  machine.outcomes.backfilled[row] = 1;
  start(machine, row, now);
  return true;
}

function byRequest({ trace, submitted }: ClassicMachine, first: number): readonly number[] {
  const rows = Array.from({ length: submitted - first }, (_, i) => first + i);
  return rows.sort((a, b) => (trace.request[a] as number) - (trace.request[b] as number) || a - b);
}
