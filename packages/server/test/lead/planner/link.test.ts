// The leader's planner in a real thread: it plans and explains from its own copy of the state, and another replaces it
// when it ends or when its state differs.

import type { AllocationId } from "@lattice/core";
import pino from "pino";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createPlannerLink } from "../../../src/lead/planner/link.ts";
import type { FromPlanner, ToPlanner } from "../../../src/lead/planner/messages.ts";
import type { PlannerEvents, PlannerPort } from "../../../src/lead/planner/port.ts";
import { startThread } from "../../../src/lead/planner/thread.ts";
import { createAgentHub } from "../../../src/nodes/agents/hub.ts";
import { leaderState, NODES, QUEUE } from "./leader-state.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function open() {
  const leader = leaderState();
  const clock = { ...systemClock, now: leader.now };
  const hub = createAgentHub(clock);
  for (const node of NODES) hub.add({ node, protocol: 1, send: () => undefined, end: () => undefined });
  const ends: string[] = [];
  const threads: { readonly port: PlannerPort; readonly events: PlannerEvents; readonly sent: ToPlanner[] }[] = [];
  const heard: FromPlanner[] = [];
  const link = createPlannerLink({
    start(events) {
      const port = startThread({
        ...events,
        onMessage(message) {
          heard.push(message);
          events.onMessage(message);
        },
      });
      const sent: ToPlanner[] = [];
      threads.push({ port, events, sent });
      return {
        close: port.close,
        post(message, moved) {
          sent.push(message);
          port.post(message, moved);
        },
      };
    },
    replica: leader.replica,
    hub,
    clock,
    logger: pino({ level: "silent" }),
    metrics: { estimateError: () => undefined, plannerEnded: (cause) => ends.push(cause) },
    settings: () => ({ budgetDays: 90, createTenants: true }),
    measured: () => ({ signals: undefined, stale: null }),
  });
  closers.push(link.close);
  link.open();
  const never = new AbortController().signal;
  return { leader, hub, link, threads, heard, ends, ready: () => link.ready(never), now: leader.now };
}

const id = (n: number) => String(n) as AllocationId;

test("the planner follows the log, and its plans are accepted", async () => {
  const { leader, link, ready, now } = open();
  leader.submit();
  await ready();
  leader.submit(2);
  const first = await link.cycle(QUEUE, now());
  expect(first?.basis).toBe(leader.state.index);
  expect(first?.placements.map(({ allocation }) => allocation)).toEqual([id(1)]);
  expect(leader.commit(first?.placements ?? [])).toMatchObject({ kind: "accepted", placements: [{ refusal: null }] });
  const second = await link.cycle(QUEUE, now());
  expect(second?.placements).toEqual([]);
  expect(second?.isReserved(id(2))).toBe(true);
  expect(second?.estimate(id(2))).toBe(second?.reservations[0]?.startsAt);
  expect(second?.reasons(id(2))?.[0]?.text).toContain("1 of them free");
  expect(second?.reasons(id(1))).toBeUndefined();
  const explained = await link.ask({ kind: "explain", id: id(2) });
  expect(explained?.explanation.causes.map(({ code }) => code)).toContain("busy");
  expect(await link.ask({ kind: "queue", vcluster: QUEUE, from: 0, limit: 9 })).toMatchObject({ total: 1 });
  expect(await link.cycle("none" as typeof QUEUE, now())).toBeNull();
});

test("entries wait for a call, or a moment, and are sent together", async () => {
  const { leader, link, threads, ready, now } = open();
  await ready();
  const sent = () => threads[0]?.sent.flatMap((one) => (one.kind === "entries" ? [one.lengths.length] : [])) ?? [];
  const before = sent().length;
  for (let n = 0; n < 3; n += 1) leader.submit();
  expect(sent().slice(before)).toEqual([]);
  expect((await link.cycle(QUEUE, now()))?.basis).toBe(leader.state.index);
  expect(sent().slice(before)).toEqual([3]);
  leader.submit();
  await expect.poll(() => sent().slice(before)).toEqual([3, 1]);
});

test("a node without a stream gets no work, and a submission that cannot be is refused with its problem", async () => {
  const { leader, hub, link, ready, now } = open();
  await ready();
  const session = { node: "n1" as (typeof NODES)[0], protocol: 1, send: () => undefined, end: () => undefined };
  hub.add(session);
  hub.remove(session);
  leader.submit(2);
  expect((await link.cycle(QUEUE, now()))?.placements).toEqual([]);
  hub.add(session);
  expect((await link.cycle(QUEUE, now()))?.placements).toHaveLength(1);
  const spec = leader.state.allocation(id(1))?.spec;
  if (spec === undefined) throw new Error("no allocation 1");
  const wrong = { ...spec, vcluster: "none" as typeof QUEUE };
  await expect(link.ask({ kind: "plan", spec: wrong, user: "ada" as never })).rejects.toMatchObject({
    problem: { status: 404 },
  });
});

test("a planner that ends is replaced, and the next one keeps the reservations", async () => {
  const { leader, link, threads, ends, ready, now } = open();
  await ready();
  leader.submit();
  leader.commit((await link.cycle(QUEUE, now()))?.placements ?? []);
  leader.submit(2);
  const before = await link.cycle(QUEUE, now());
  const lost = link.cycle(QUEUE, now());
  threads[0]?.port.close();
  await expect(lost).rejects.toThrow("the thread ended");
  // The last report is known meanwhile.
  expect(link.cycles.get(QUEUE)?.isReserved(id(2))).toBe(true);
  await expect(link.cycle(QUEUE, now())).rejects.toMatchObject({ problem: { code: "scheduler_restarting" } });
  leader.submit(1);
  // A question waits for the next planner.
  expect((await link.ask({ kind: "explain", id: id(2) }))?.explanation.allocation).toBe(id(2));
  const after = await link.cycle(QUEUE, now());
  expect(after?.basis).toBe(leader.state.index);
  expect(after?.reservations[0]).toEqual(before?.reservations[0]);
  expect([threads.length, ends]).toEqual([2, ["failed"]]);
  link.close();
  expect(leader.listeners()).toBe(0);
});

test("a planner whose state differs is replaced", async () => {
  const { leader, link, threads, heard, ends, ready } = open();
  await ready();
  leader.submit();
  const marks = () => heard.flatMap((message) => (message.kind === "marks" ? message.marks : []));
  await expect.poll(marks).not.toEqual([]);
  expect(ends).toEqual([]);
  const index = leader.state.index + 1;
  leader.mark({ index: index as never, hash: "0".repeat(64) });
  leader.submit();
  await expect.poll(() => ends).toEqual(["state_differs"]);
  await ready();
  expect(threads).toHaveLength(2);
  expect((await link.ask({ kind: "waiting" })).size).toBe(0);
});

test("a planner that cannot follow the log is replaced", async () => {
  const { leader, threads, ends, ready } = open();
  await ready();
  threads[0]?.port.post({ kind: "entries", bytes: new TextEncoder().encode("{}"), lengths: [2] });
  await expect.poll(() => ends).toEqual(["failed"]);
  await ready();
  expect([threads.length, leader.listeners()]).toEqual([2, 1]);
});
