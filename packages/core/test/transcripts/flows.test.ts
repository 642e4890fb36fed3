// Dependencies, task groups and DAGs, step by step: which members each end releases, skips or cancels.

import { describe, expect, it } from "vitest";
import {
  type Cluster,
  cancel,
  cancelDag,
  createCluster,
  hold,
  id,
  register,
  submit,
  submitDag,
  submitGroup,
} from "../support/cluster.ts";
import { lines } from "../support/transcript.ts";

const nodes = ["n1", "n2", "n3", "n4"].map((name) => register(name));

/** Runs an allocation on a node until this end, and returns what the end brought about. */
function run(c: Cluster, n: number | string, node: string, end: "completed" | "failed"): readonly string[] {
  c.place(n, node);
  c.report(n, node, "running");
  return lines(c.report(n, node, end)).filter((line) => !line.startsWith(">") && !line.includes("released by"));
}

describe("a chain of dependencies", () => {
  it("releases one allocation after another on success", () => {
    const c = createCluster(...nodes);
    c.apply(submit(), submit({ after: ["1:success"] }), submit({ after: ["2:success"] }));
    expect(c.state.blockedCount).toBe(2);
    expect(run(c, 1, "n1", "completed")).toEqual(["1: running > completed", "2: pending > pending (released)"]);
    expect(run(c, 2, "n1", "completed")).toEqual(["2: running > completed", "3: pending > pending (released)"]);
    expect(c.state.blockedCount).toBe(0);
  });

  it("is cancelled to its end by one failure, in one entry", () => {
    const c = createCluster(...nodes);
    c.apply(
      submit({ lifecycle: { requeuePolicy: "never" } }),
      submit({ after: ["1:success"] }),
      submit({ after: ["2:success"] }),
      submit({ after: ["2:any"] }),
      submit({ after: ["1:failure"] }),
    );
    expect(run(c, 1, "n1", "failed")).toEqual([
      "1: running > failed (exit_code)",
      "2: pending > cancelled (dependency_failed)",
      "5: pending > pending (released)",
      "3: pending > cancelled (dependency_failed)",
      "4: pending > pending (released)",
    ]);
    expect(c.state.allocation(id(3))?.phase).toMatchObject({ message: "it depends on 2, which was cancelled" });
  });

  it("is resolved at submission when its first allocation has already ended", () => {
    const c = createCluster(...nodes);
    c.apply(submit());
    c.apply(cancel(1));
    expect(lines(c.apply(submit({ after: ["1:any"] })))).toEqual([
      "2: new > pending (submitted)",
      "2: pending > pending (released)",
    ]);
    expect(lines(c.apply(submit({ after: ["1:success"] })))).toEqual([
      "3: new > pending (submitted)",
      "3: pending > cancelled (dependency_failed)",
    ]);
  });
});

describe("a mutex", () => {
  it("passes to the lowest id with each end, and skips a held allocation", () => {
    const c = createCluster(...nodes);
    const wants = submit({ after: ["lock:mutex"] });
    c.apply(wants, wants, wants, wants);
    expect(c.state.mutexHolder("physics" as never, "lock")).toBe("1");
    c.apply(hold(2));
    expect(run(c, 1, "n1", "completed")).toEqual(["1: running > completed", "3: pending > pending (released)"]);
    expect(lines(c.apply(hold(2, false)))).toEqual(["2: pending > pending (released)"]);
    expect(lines(c.apply(cancel(3)))).toEqual(["3: pending > cancelled (enough)", "2: pending > pending (released)"]);
    expect(c.state.mutexHolder("physics" as never, "lock")).toBe("2");
    expect(lines(c.apply(cancel(2)))).toEqual(["2: pending > cancelled (enough)", "4: pending > pending (released)"]);
    c.apply(cancel(4));
    expect(c.state.mutexHolder("physics" as never, "lock")).toBeNull();
  });
});

describe("a task group", () => {
  it("creates elements as others end, and ends with the last of them", () => {
    const c = createCluster(...nodes);
    expect(lines(c.apply(submitGroup([0, 2], 2)))).toEqual([
      "tenant_changed (first submission)",
      "1: new > pending (submitted)",
      "1_0: new > pending (submitted)",
      "1_1: new > pending (submitted)",
    ]);
    c.place("1_0", "n1");
    expect(c.state.group(id(1))?.phase.kind).toBe("running");
    c.report("1_0", "n1", "running");
    expect(lines(c.report("1_0", "n1", "completed")).filter((line) => line.includes("new"))).toEqual([
      "1_2: new > pending (submitted)",
    ]);
    expect(run(c, "1_2", "n1", "completed")).toEqual(["1_2: running > completed"]);
    expect(run(c, "1_1", "n1", "completed")).toEqual(["1_1: running > completed", "1: running > completed"]);
    expect(c.state.group(id(1))?.counts).toEqual({ made: 0, completed: 3, failed: 0, cancelled: 0 });
  });

  it("fails when an element fails, after the other elements have ended", () => {
    const c = createCluster(...nodes);
    c.apply(submitGroup([0, 1], 1, { lifecycle: { requeuePolicy: "never" } }), submit({ after: ["1:failure"] }));
    expect(run(c, "1_0", "n1", "failed")).toEqual([
      "1_0: running > failed (exit_code)",
      "1_1: new > pending (submitted)",
    ]);
    expect(run(c, "1_1", "n1", "completed")).toEqual([
      "1_1: running > completed",
      "1: running > failed (element_failed)",
      "2: pending > pending (released)",
    ]);
  });

  it("waits element by element for another group", () => {
    const c = createCluster(...nodes);
    c.apply(
      submitGroup([0, 2], null, { lifecycle: { requeuePolicy: "never" } }),
      submitGroup([0, 3], null, { after: ["1:corresponding"] }),
    );
    // Index 3 has no counterpart and starts at once.
    expect([0, 1, 2, 3].map((n) => c.phase(`2_${n}`))).toEqual(["absent", "absent", "absent", "pending"]);
    expect(run(c, "1_1", "n1", "completed")).toEqual(["1_1: running > completed", "2_1: new > pending (submitted)"]);
    expect(run(c, "1_0", "n1", "failed")).toEqual(["1_0: running > failed (exit_code)"]);
    expect(c.state.group(id(2))?.counts).toMatchObject({ made: 2, cancelled: 1 });
    c.apply(cancel("1_2"));
    expect(c.state.group(id(2))?.counts).toMatchObject({ made: 2, cancelled: 2 });
    run(c, "2_1", "n1", "completed");
    expect(run(c, "2_3", "n1", "completed")).toEqual([
      "2_3: running > completed",
      "2: running > cancelled (elements_cancelled)",
    ]);
  });

  it("with a hold creates no element, and fills up again after its release", () => {
    const c = createCluster(...nodes);
    c.apply({ ...submitGroup([0, 3], 2), hold: true } as ReturnType<typeof submitGroup>);
    expect(c.state.allocationCount).toBe(0);
    expect(lines(c.apply(hold(1, false)))).toEqual([
      "1: pending > pending (released)",
      "1_0: new > pending (submitted)",
      "1_1: new > pending (submitted)",
    ]);
  });
});

describe("a DAG", () => {
  const diamond = submitDag({
    prepare: { lifecycle: { requeuePolicy: "never" } },
    left: { after: ["prepare:success"] },
    right: { after: ["prepare:success"], group: [0, 1] },
    join: { after: ["left:success", "right:success"] },
  });

  it("runs its members in the order of their edges and completes with the last", () => {
    const c = createCluster(...nodes);
    expect(lines(c.apply(diamond))).toContain("dag-1: new > running");
    expect(run(c, 2, "n1", "completed")).toEqual([
      "2: running > completed",
      "3: pending > pending (released)",
      "4_0: new > pending (submitted)",
      "4_1: new > pending (submitted)",
    ]);
    run(c, 3, "n1", "completed");
    run(c, "4_0", "n2", "completed");
    expect(run(c, "4_1", "n2", "completed")).toEqual([
      "4_1: running > completed",
      "4: running > completed",
      "5: pending > pending (released)",
    ]);
    expect(run(c, 5, "n1", "completed")).toEqual(["5: running > completed", "dag-1: running > completed"]);
    expect(c.state.dag("dag-1" as never)?.ends).toBe("cccc");
  });

  it("skips all members behind a failure that no edge handles", () => {
    const c = createCluster(...nodes);
    c.apply(diamond);
    const transcript = run(c, 2, "n1", "failed");
    expect(transcript.at(-1)).toBe("dag-1: running > failed");
    expect(c.state.dag("dag-1" as never)?.ends).toBe("fsss");
    expect(lines(c.apply(cancelDag(1)))).toEqual(["! illegal_transition"]);
  });

  it("that is cancelled ends every member, and is cancelled once", () => {
    const c = createCluster(...nodes);
    c.apply(submitDag({ prepare: {}, left: { after: ["prepare:success"] }, join: { after: ["left:any"] } }));
    c.place(2, "n1");
    const transcript = lines(c.apply(cancelDag(1)));
    expect(transcript.filter((line) => line.includes("released)"))).toEqual([]);
    expect(transcript.at(-1)).toBe("> stop 2/1 on n1 (cancelled)");
    expect(c.state.dag("dag-1" as never)?.ends).toBe("x".repeat(3));
    expect(lines(c.apply(cancelDag(1)))).toEqual(["! repeated"]);
    expect(lines(c.apply(cancelDag(9)))).toEqual(["! unknown_dag"]);
  });
});
