// The recorded end of an attempt is when its last process ended, not when the report arrived.

import { attempt, instant } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createCluster, id, register, reportOf, submit } from "./support/cluster.ts";

const MINUTE = 60_000;

/** An allocation that started at 1,000,000 and runs on these nodes; now it is ten minutes later. */
function running(nodes: readonly string[], change: Parameters<typeof submit>[0] = {}) {
  const c = createCluster(...nodes.map((name) => register(name)), submit({ nodes: nodes.length, ...change }));
  c.place(1, ...nodes);
  for (const node of nodes) c.report(1, node, "running");
  c.advance(10 * MINUTE);
  return {
    phase: () => c.state.allocation(id(1))?.phase,
    past: () => c.state.allocation(id(1))?.past?.attempts[0],
    chargedMs: () => [...c.state.tables.ledger.values()].reduce((sum, { nodeMs }) => sum + nodeMs, 0),
    end: (node: string, state: "completed" | "failed", endedAt: number) =>
      c.apply({ ...reportOf(1, node, attempt(1), state), endedAt: instant(endedAt) }),
  };
}

describe("a report that arrives ten minutes after the start", () => {
  it.each([
    ["within the attempt is the end", 1_000_000 + MINUTE, MINUTE],
    ["before the start is the start", 400_000, 0],
    ["in the future is the time of the report", 9_000_000, 10 * MINUTE],
  ])("a time %s, and the ledger charges until then", (_, endedAt, ranMs) => {
    const work = running(["n1"]);
    work.end("n1", "completed", endedAt);
    expect(work.phase()).toMatchObject({ kind: "completed", startedAt: 1_000_000, endedAt: 1_000_000 + ranMs });
    expect(work.chargedMs()).toBe(ranMs);
  });

  it("of a failure records the end of the process", () => {
    const work = running(["n1"]);
    work.end("n1", "failed", 1_000_000 + MINUTE);
    expect(work.phase()).toMatchObject({ kind: "failed", endedAt: 1_000_000 + MINUTE });
  });

  it("of a failure that is requeued records the end of the attempt", () => {
    const work = running(["n1"], { lifecycle: { requeuePolicy: "always" } });
    work.end("n1", "failed", 1_000_000 + MINUTE);
    expect(work.phase()).toMatchObject({ kind: "pending" });
    expect(work.past()).toMatchObject({ endedAt: 1_000_000 + MINUTE });
    expect(work.chargedMs()).toBe(MINUTE);
  });
});

it("an allocation of several nodes ends with its last process", () => {
  const work = running(["n1", "n2"]);
  work.end("n1", "completed", 1_000_000 + 4 * MINUTE);
  work.end("n2", "completed", 1_000_000 + MINUTE);
  expect(work.phase()).toMatchObject({ kind: "completed", endedAt: 1_000_000 + 4 * MINUTE });
});

it("a failure on one of several nodes ends the allocation now, because the others run until now", () => {
  const work = running(["n1", "n2"]);
  work.end("n1", "failed", 1_000_000 + MINUTE);
  expect(work.phase()).toMatchObject({ kind: "failed", endedAt: 1_000_000 + 10 * MINUTE });
});

it("an attempt whose start was never reported starts and ends at its end", () => {
  const c = createCluster(register("n1"), submit());
  c.place(1, "n1");
  c.advance(10 * MINUTE);
  c.apply({ ...reportOf(1, "n1", attempt(1), "completed"), endedAt: instant(1_000_000 + MINUTE) });
  const at = 1_000_000 + MINUTE;
  expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "completed", startedAt: at, endedAt: at });
});
