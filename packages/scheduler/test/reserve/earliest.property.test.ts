// A reservation starts at the first instant at which the job fits, by a search over every instant without any shortcut;
// both searches of `findReservation`, by count and by sweep, find that start and nodes that are really available.

import fc from "fast-check";
import { expect, test } from "vitest";
import { startNow } from "../../src/backfill/start-now.ts";
import { type Job, toJob } from "../../src/fit/job.ts";
import type { CycleInput } from "../../src/input/cycle-input.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { createPlanBuffers } from "../../src/machine/plan-buffers.ts";
import { isFeasible } from "../../src/place/feasibility.ts";
import { commitStart, createDraft, type Draft } from "../../src/plan/draft.ts";
import type { PlannedReservation } from "../../src/plan/planned-reservation.ts";
import { addReservation, findReservation, nodesAt, removeReservation } from "../../src/reserve/reserve.ts";
import { spareOf } from "../../src/reserve/spare.ts";
import { someInput } from "../arbitrary.ts";

const draftOf = (given: CycleInput): Draft =>
  createDraft(machineOf(given), given, { buffers: createPlanBuffers(given.nodes.length), movesLeft: 0 });

/** Every instant at which a node may become available: releases, ends of starts, ends of reservations. */
function instantsOf({ availableFrom, reservations, now }: Draft): number[] {
  const instants = [...availableFrom, ...reservations.map(({ endsAt }) => endsAt)];
  return [...new Set(instants)].filter((at) => at > now && Number.isFinite(at)).sort((a, b) => a - b);
}

/** By time and nodes alone, from first principles. */
function isAvailable(draft: Draft, node: number, from: number, to: number): boolean {
  if ((draft.availableFrom[node] as number) > from) return false;
  return draft.reservations.every(
    ({ startsAt, endsAt, nodes }) => !nodes.includes(node) || endsAt <= from || startsAt >= to,
  );
}

function expectSound(draft: Draft, job: Job, { startsAt, endsAt, nodes }: PlannedReservation): void {
  expect(nodes.length).toBeGreaterThanOrEqual(job.nodesNeeded);
  expect([...nodes]).toEqual([...new Set(nodes)].sort((a, b) => a - b));
  expect(endsAt).toBe(startsAt + job.occupancy);
  for (const node of nodes) expect(isAvailable(draft, node, startsAt, endsAt)).toBe(true);
  for (const node of job.match.required ?? []) expect(nodes).toContain(node);
  for (const node of job.match.excluded) expect(nodes).not.toContain(node);
}

/** Starts or reserves the queue in order, and compares each reservation with the search without shortcuts. */
function check(given: CycleInput): number {
  const draft = draftOf(given);
  let checked = 0;
  for (const pending of given.pending) {
    const job = toJob(draft.machine, pending);
    if (!isFeasible(draft.machine, job)) continue;
    const nodes = startNow(draft, job, pending.maxNodes);
    if (nodes !== null) {
      commitStart(draft, job, nodes);
      continue;
    }
    const earliest = instantsOf(draft).find((at) => nodesAt(draft, job, at) !== null) ?? null;
    const byCount = findReservation(draft, job);
    draft.hasForeignReservations = true;
    const bySweep = findReservation(draft, job);
    draft.hasForeignReservations = false;
    expect(byCount?.startsAt ?? null).toBe(earliest);
    expect(bySweep?.startsAt ?? null).toBe(earliest);
    checked += 1;
    if (byCount === null || bySweep === null) continue;
    expectSound(draft, job, byCount);
    expectSound(draft, job, bySweep);
    expect(findReservation(draft, job, byCount.startsAt)).toBeNull();
    expect(findReservation(draft, job, byCount.startsAt + 1)?.startsAt).toBe(earliest);
    addReservation(draft, byCount);
    expectBounds(draft, job, byCount);
  }
  return checked;
}

/** The counts never promise too little: what a search finds, they allow. */
function expectBounds(draft: Draft, job: Job, own: PlannedReservation): void {
  const spare = spareOf(draft);
  expect([...spare.instants]).toEqual([...spare.instants].sort((a, b) => a - b));
  const at = spare.instants.indexOf(own.startsAt);
  expect(at).toBeGreaterThanOrEqual(0);
  expect(spare.couldStartAt(job, at, own)).toBe(true);
  expect(spare.couldImprove(own)).toBe(
    spare.instants.some(
      (instant, i) => instant > draft.now && instant < own.startsAt && spare.couldStartAt(job, i, own),
    ),
  );
  const others = draft.reservations.filter(({ startsAt }) => startsAt < draft.now + job.occupancy);
  if (others.length === 0) expect(spare.freeUntil(draft.now + job.occupancy)).toBe(draft.freeCount);
  removeReservation(draft, own);
  expect(spareOf(draft).freeUntil(draft.now + job.occupancy)).toBe(spare.freeUntil(draft.now + job.occupancy, own));
  addReservation(draft, own);
}

test("a reservation starts at the first instant at which the job fits", () => {
  let checked = 0;
  fc.assert(
    fc.property(someInput, (given) => {
      checked += check(given);
    }),
    { numRuns: 300, seed: 16 },
  );
  expect(checked).toBeGreaterThan(300);
});
