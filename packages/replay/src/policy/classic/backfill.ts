// One backfill pass behind the head of the queue: a job starts if it fits now and either ends by the shadow time or
// needs no more than the extra nodes, which it then uses up. The shadow stays valid until a job ends or the head
// starts: jobs that end by the shadow time are gone by then, and the others have been subtracted from the extra nodes.
// Until then only new submissions can start, so only they are tried.

import { type ClassicMachine, start } from "./machine.ts";
import { findShadow } from "./releases.ts";
import { moveTail, put } from "./waiting.ts";

export function backfillAll(machine: ClassicMachine, now: number): void {
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
export function backfillNew(machine: ClassicMachine, first: number, now: number): void {
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
