// Removal of the checkpoints of finished allocations: one node at a time, those of the allocation first, until one accepts.

import { type AllocationId, duration, type View } from "@lattice/core";
import pino from "pino";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/base/config/index.ts";
import type { Sequencer } from "../../../src/lead/commit/sequencer.ts";
import { createClearer } from "../../../src/lead/controllers/clearings/act.ts";
import { decideClearings, nextClearingTry } from "../../../src/lead/controllers/clearings/decide.ts";

const ID = "7" as AllocationId;
const DAY = 86_400_000;
const clearing = { allocation: ID, tenant: "physics", project: "", user: "ada", endedAt: 1_000, nodes: ["n2", "n3"] };

const viewOf = (held: boolean, waiting: readonly object[] = [clearing]): View =>
  ({
    clearings: () => waiting,
    allocation: () => ({ phase: { kind: "cancelled", nodes: ["n2"] } }),
    node: () => ({ claims: held ? [{ allocation: ID }] : [] }),
    nodes: () => ["n1", "n2", "n3", "n4"].map((id) => ({ id })),
  }) as unknown as View;

interface Look {
  readonly nowMs?: number;
  readonly held?: boolean;
  readonly tries?: number;
  readonly away?: readonly string[];
  readonly retention?: number;
}

function look({ nowMs = 6_000, held = false, tries = 0, away = [], retention = 10_000 }: Look) {
  return decideClearings(viewOf(held), {
    nowMs,
    retention: duration(retention),
    connected: (node) => !away.includes(node),
    tries: new Map(tries === 0 ? [] : [[ID, { count: tries, nextMs: 0 }]]),
  });
}

test("the nodes of the allocation are first, then the others, in rotation", () => {
  const told = [0, 1, 2, 3, 4, 5, 6].map((tries) => look({ tries, away: ["n4"] }).requests[0]?.node);
  expect(told).toEqual(["n2", "n3", "n1", "n2", "n3", "n1", "n2"]);
  expect(look({ away: ["n1", "n2", "n3", "n4"] }).requests).toEqual([]);
});

test("the order has the remaining retention; none is sent while a process may still write", () => {
  expect(look({}).requests).toMatchObject([{ after: 5_000 }]);
  expect(look({ nowMs: 100_000 }).requests).toMatchObject([{ after: 0 }]);
  expect(look({ held: true })).toEqual({ requests: [], drop: [] });
});

test("clearings of kept or unreachable checkpoints are dropped", () => {
  expect(look({ retention: 0 }).drop).toEqual([{ allocation: ID, reason: "kept" }]);
  expect(look({ nowMs: 31 * DAY }).drop).toEqual([{ allocation: ID, reason: "unreachable" }]);
});

test("an unanswered order is repeated with backoff", () => {
  let tries = nextClearingTry(undefined, 0);
  expect(tries).toEqual({ count: 1, nextMs: 5_000 });
  for (let i = 0; i < 20; i += 1) tries = nextClearingTry(tries, 0);
  expect(tries.nextMs).toBe(600_000);
});

test("a run sends the order, waits for the answer, and forgets an accepted clearing", async () => {
  const [sent, proposed]: [string[], unknown[]] = [[], []];
  let waiting: readonly object[] = [clearing];
  let nowMs = 6_000;
  const turn = createClearer({
    replica: {
      get view() {
        return viewOf(false, waiting);
      },
    },
    sequencer: { propose: async (command: unknown) => void proposed.push(command) } as unknown as Sequencer,
    hub: {
      connected: () => true,
      send: (node, { case: kind }) => {
        sent.push(`${kind} to ${node}`);
        return true;
      },
    },
    clock: { now: () => nowMs } as never,
    logger: pino({ level: "silent" }),
    config: () => ({ checkpoint: { ...loadConfig(null).checkpoint, retention: duration(10_000) } }),
  });
  await turn();
  await turn();
  expect(sent).toEqual(["clearCheckpoints to n2"]);
  nowMs += 5_000;
  await turn();
  expect(sent).toEqual(["clearCheckpoints to n2", "clearCheckpoints to n3"]);
  waiting = [];
  await turn();
  expect(sent).toHaveLength(2);
  expect(proposed).toEqual([]);
});
