// The ended attempts and refused placements in the record of an allocation, within limits; and the check of a
// submission without submitting it.

import { attempt, judgeSubmission, MAX_PAST_ATTEMPTS, MAX_PAST_REFUSALS } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createCluster, id, nodeId, plan, register, spec, submit } from "./support/cluster.ts";

/** Entries of the second version are in use. */

describe("the history of an allocation", () => {
  it("has every ended attempt, with its nodes and scores", () => {
    const c = createCluster(register("n1"), submit({ lifecycle: { requeuePolicy: "always" } }));
    expect(c.state.allocation(id(1))?.past).toBeUndefined();
    c.place(1, "n1");
    c.report(1, "n1", "running");
    c.advance(5);
    c.report(1, "n1", "failed", "exit_code");
    const record = c.state.allocation(id(1));
    expect(record?.phase.kind).toBe("pending");
    expect(record?.past?.attempts).toEqual([
      {
        attempt: attempt(1),
        nodeCount: 1,
        nodes: [nodeId("n1")],
        placedAt: 1_000_000,
        startedAt: 1_000_000,
        endedAt: 1_000_005,
        to: "pending",
        cause: "policy",
        scoreMilli: 500,
        backfilled: false,
        failure: { exitCode: 1, message: "", reason: "exit_code" },
        entries: { placed: 2, started: 3, ended: 4 },
      },
    ]);
    // The attempt it ends with is in the record itself.
    c.place(1, "n1");
    c.report(1, "n1", "completed");
    expect(c.state.allocation(id(1))?.past?.attempts).toHaveLength(1);
  });

  it("keeps the newest attempts and refusals, up to the limits", () => {
    const c = createCluster(register("n1"), submit({ lifecycle: { requeuePolicy: "always", maxRequeue: 100 } }));
    for (let n = 0; n < MAX_PAST_REFUSALS + 3; n += 1) c.apply(plan(c.state, 1, ["nowhere"]));
    for (let n = 0; n < MAX_PAST_ATTEMPTS + 3; n += 1) {
      c.place(1, "n1");
      c.report(1, "n1", "failed", "lost");
    }
    const past = c.state.allocation(id(1))?.past;
    expect(past?.refusals).toHaveLength(MAX_PAST_REFUSALS);
    expect(past?.refusals[0]?.code).toBe("node_unavailable");
    expect(past?.attempts).toHaveLength(MAX_PAST_ATTEMPTS);
    expect(past?.attempts.at(-1)?.attempt).toBe(MAX_PAST_ATTEMPTS + 3);
    // Removed entries are counted, and the newest one is kept.
    expect(past?.cut).toEqual({ count: 6, through: (past?.attempts[0]?.entries?.placed ?? 0) - 1 });
  });
});

describe("the check of a submission", () => {
  it("gives the same answer as the submission, and changes nothing", () => {
    const c = createCluster();
    const cases = [
      spec(),
      spec({ vcluster: "nowhere" }),
      spec({ nodes: 0 }),
      spec({ tenant: "not a name" }),
      spec({ lifecycle: { preemptionClass: 11 } }),
    ];
    for (const each of cases) {
      const judged = judgeSubmission(c.state, { spec: each, createTenant: true }, c.state.at);
      const before = c.state.allocationCount;
      const outcome = c.apply({ ...submit(), spec: each } as never).outcomes[0];
      if (judged.kind === "good") expect(outcome?.kind).toBe("accepted");
      else {
        expect(outcome).toEqual(judged);
        expect(c.state.allocationCount).toBe(before);
      }
    }
    const strict = judgeSubmission(c.state, { spec: spec({ tenant: "new" }), createTenant: false }, c.state.at);
    expect(strict).toMatchObject({ kind: "rejected", refusal: { code: "unknown_tenant" } });
  });
});
