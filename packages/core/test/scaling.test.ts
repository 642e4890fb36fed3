// Services: nodes are added and removed while they run, lost nodes are tolerated, updates renew nodes, and failures
// restart with backoff.

import {
  attemptOn,
  backoffBefore,
  type Command,
  countedRequeues,
  duration,
  LONG_RUN,
  type NodeId,
  type ScaleCommand,
  serviceEndpoints,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  disable,
  health,
  id,
  nodeId,
  orders,
  origin,
  register,
  reportOf,
  submit,
  tenant,
  vcluster,
  vclusterId,
  verdict,
} from "./support/cluster.ts";
import { scalePolicy } from "./support/policies.ts";

const reactive = (min = 1, max = 3): Command =>
  submit({
    nodes: min,
    lifecycle: { kind: "reactive", walltime: null, requeuePolicy: "always", scale: scalePolicy(min, max) },
  });

function service(...more: readonly Command[]): Cluster {
  const c = createCluster(...["n1", "n2", "n3", "n4"].map((n) => register(n)), ...more);
  c.apply(reactive());
  c.place(1, "n1");
  c.report(1, "n1", "running");
  return c;
}

const scale = (c: Cluster, change: "add" | "remove", node: string, more: Partial<ScaleCommand> = {}): Command => {
  const record = c.state.allocation(id(1));
  const size = record !== undefined && "nodes" in record.phase ? record.phase.nodes.length : 0;
  return {
    kind: "allocation.scale",
    allocation: id(1),
    attempt: record?.attempt ?? (0 as never),
    size,
    change,
    node: nodeId(node),
    reason: "metric",
    detail: "queue_depth 140 is above 100",
    ...more,
  };
};
const nodesOf = (c: Cluster): readonly NodeId[] => {
  const phase = c.state.allocation(id(1))?.phase;
  return phase !== undefined && "nodes" in phase ? phase.nodes : [];
};

describe("a service", () => {
  it("gains a node with its own attempt, and the other nodes continue", () => {
    const c = service();
    expect(orders(c.apply(scale(c, "add", "n2")))).toEqual(["run 1/2 on n2"]);
    expect(c.phase(1)).toBe("running");
    expect(nodesOf(c)).toEqual(["n1", "n2"]);
    c.apply(reportOf(1, "n2", 2 as never, "running"));
    const record = c.state.allocation(id(1));
    if (record === undefined) throw new Error("gone");
    expect([attemptOn(record, nodeId("n1")), attemptOn(record, nodeId("n2"))]).toEqual([1, 2]);
    expect(record.past?.notes?.[0]).toMatchObject({ type: "scaling", kind: "scaled_up", nodes: ["n2"] });
  });

  it("loses a node, and regains it as another attempt", () => {
    const c = service();
    c.apply(scale(c, "add", "n2"));
    c.apply(reportOf(1, "n2", 2 as never, "running"));
    expect(orders(c.apply(scale(c, "remove", "n2")))).toEqual(["stop 1/2 on n2"]);
    expect(verdict(c.one(scale(c, "add", "n2")))).toBe("node_unavailable");
    c.apply(reportOf(1, "n2", 2 as never, "failed", "stopped"));
    expect(c.phase(1)).toBe("running");
    expect(orders(c.apply(scale(c, "add", "n2")))).toEqual(["run 1/3 on n2"]);
    // A report of the previous attempt no longer counts.
    expect(verdict(c.one(reportOf(1, "n2", 2 as never, "failed")))).toBe("not_assigned");
  });

  it("is scaled within its limits, the quota, the free nodes and the size that the leader saw", () => {
    const c = service(tenant("physics", { maxNodes: 2 }));
    expect(verdict(c.one(scale(c, "remove", "n1")))).toBe("illegal_transition");
    expect(verdict(c.one(scale(c, "add", "n2", { size: 2 })))).toBe("stale_plan");
    expect(verdict(c.one(scale(c, "add", "n1")))).toBe("node_unavailable");
    expect(verdict(c.one(scale(c, "add", "n9")))).toBe("unknown_node");
    c.apply(scale(c, "add", "n2"));
    expect(verdict(c.one(scale(c, "add", "n3")))).toBe("quota_exceeded");
    const two = service();
    two.apply(scale(two, "add", "n2"));
    two.apply(scale(two, "add", "n3"));
    expect(verdict(two.one(scale(two, "add", "n4")))).toBe("illegal_transition");
  });

  it("is charged per node for the time it held it", () => {
    const c = service();
    c.advance(10_000);
    c.apply(scale(c, "add", "n2"));
    c.advance(10_000);
    c.apply(scale(c, "remove", "n2"));
    c.advance(10_000);
    c.apply({ kind: "allocation.cancel", origin: origin(), id: id(1), reason: "" });
    const window = { from: 0, to: 1, now: c.state.at };
    expect(c.state.ledger.spent({}, window).nodeMs).toBe(40_000);
  });

  it("borrows only the nodes above its minimum", () => {
    const lending = { keepNodes: 0, maxClass: 9, maxDuration: null, returnGrace: duration(1_000) };
    const c = createCluster(
      vcluster("home", { lending }),
      vcluster("other", { borrows: true }),
      register("n1", { homeVCluster: vclusterId("home") }),
      register("n2", { homeVCluster: vclusterId("home") }),
      register("n3"),
    );
    c.apply(
      submit({
        vcluster: "other",
        lifecycle: { kind: "reactive", walltime: null, requeuePolicy: "always", scale: scalePolicy(1, 3) },
      }),
    );
    const plan = (node: string): Command => ({
      kind: "plan.commit",
      vcluster: vclusterId("other"),
      basis: c.state.index,
      placements: [{ allocation: id(1), attempt: 1 as never, nodes: [nodeId(node)], scores: {}, backfilled: false }],
    });
    expect(verdict(c.one(plan("n1")))).toBe("node_unavailable");
    c.apply(plan("n3"));
    c.report(1, "n3", "running");
    expect(verdict(c.one(scale(c, "add", "n1")))).toBe("accepted");
    // The home vCluster asks for its node: it is handed back, and the service continues.
    c.apply(submit({ vcluster: "home", lifecycle: { preemptionClass: 9 } }));
    c.apply({
      kind: "allocation.preempt",
      allocation: id(2),
      basis: c.state.index,
      victims: [{ allocation: id(1), attempt: 2 as never }],
      nodes: [nodeId("n1")],
    });
    expect(c.phase(1)).toBe("running");
    expect(nodesOf(c)).toEqual(["n3"]);
  });

  it("that oscillates raises a notice for its user", () => {
    const c = service();
    for (let i = 0; i < 4; i += 1) {
      c.apply(scale(c, "add", "n2"));
      c.apply(scale(c, "remove", "n2"));
      c.apply(reportOf(1, "n2", (i + 2) as never, "failed", "stopped"));
    }
    expect([...c.state.notices()].map(({ kind, user }) => `${kind} ${user}`)).toEqual(["scaling_oscillates ada"]);
  });

  it("continues without a lost node, and is requeued without its last one", () => {
    const c = service();
    c.apply(scale(c, "add", "n2"));
    c.apply(reportOf(1, "n2", 2 as never, "running"));
    c.apply(health("n1", "silent"));
    expect(nodesOf(c)).toEqual(["n2"]);
    c.apply(disable("n2"));
    expect(c.phase(1)).toBe("pending");
  });

  it("continues when a node cannot start it, and is requeued when its program fails", () => {
    const c = service();
    c.apply(scale(c, "add", "n2"));
    c.apply(reportOf(1, "n2", 2 as never, "failed", "launch_failed"));
    expect(nodesOf(c)).toEqual(["n1"]);
    c.apply(scale(c, "add", "n3"));
    c.apply(reportOf(1, "n3", 3 as never, "failed", "exit_code"));
    expect(c.phase(1)).toBe("pending");
    expect(c.claims("n1")).toEqual(["1/1 releasing"]);
  });
});

describe("updates", () => {
  const update = (line: string): Command => ({
    kind: "allocation.update",
    origin: origin(),
    id: id(1),
    change: { service: { task: { kind: "entrypoint", line } } },
  });
  const renewal = (c: Cluster, change: "add" | "remove", node: string): Command =>
    scale(c, change, node, { reason: "renewal" });

  /** Of either kind, on n1 and n2, the new program having been added on n3. */
  function updated(kind: "unbounded" | "reactive"): Cluster {
    const c = createCluster(...["n1", "n2", "n3", "n4"].map((n) => register(n)));
    const scales = kind === "reactive" ? { scale: scalePolicy(2, 3) } : {};
    const lifecycle = { kind, walltime: null, requeuePolicy: "always", ...scales } as const;
    const asked = submit({ nodes: 2, lifecycle });
    if (asked.kind !== "allocation.submit") throw new Error("it is a submission");
    c.apply({ ...asked, spec: { ...asked.spec, expose: [{ name: "api", port: 8080 }] } });
    c.place(1, "n1", "n2");
    for (const node of ["n1", "n2"]) c.report(1, node, "running");
    c.apply(update("./new"));
    c.apply(renewal(c, "add", "n3"));
    return c;
  }
  const endpoints = (c: Cluster) => Array.from(serviceEndpoints(c.state), ({ node }) => node);
  const halted = (c: Cluster) => c.state.allocation(id(1))?.renewal?.halted;

  it.each(["unbounded", "reactive"] as const)(
    "are halted by a failure on a renewed node, and the %s service continues",
    (kind) => {
      const c = updated(kind);
      expect(endpoints(c)).toEqual(["n1", "n2"]);
      c.apply(reportOf(1, "n3", 2 as never, "running"));
      expect(endpoints(c)).toEqual(["n1", "n2", "n3"]);
      c.apply(reportOf(1, "n3", 2 as never, "failed", "exit_code"));
      expect(c.phase(1)).toBe("running");
      expect(nodesOf(c)).toEqual(["n1", "n2"]);
      expect(c.claims("n3")).toEqual([]);
      expect(halted(c)).toBe(c.state.at);
      expect(c.state.allocation(id(1))?.requeues).toBe(0);
      const notices = () => [...c.state.notices()].filter(({ clearedAt }) => clearedAt === undefined);
      expect(notices().map(({ kind: what, user }) => `${what} ${user}`)).toEqual(["renewal_halted ada"]);
      expect(c.state.allocation(id(1))?.past?.notes?.at(-1)?.text).toBe(
        "The update is halted: on n3 the new program failed (exit code 1). The other nodes continue.",
      );
      // The next update starts over.
      c.apply(update("./better"));
      expect(halted(c)).toBeUndefined();
      expect(notices()).toEqual([]);
    },
  );

  it("are halted by a new program that cannot start, does not answer, or exits at once", () => {
    for (const reason of ["launch_failed", "prologue_failed", "probe_failed"] as const) {
      const c = updated("unbounded");
      c.apply(reportOf(1, "n3", 2 as never, "failed", reason));
      expect([c.phase(1), halted(c) !== undefined]).toEqual(["running", true]);
    }
    const c = updated("unbounded");
    c.apply(reportOf(1, "n3", 2 as never, "completed"));
    expect([c.phase(1), halted(c) !== undefined]).toEqual(["running", true]);
  });

  it("do not change the handling of a failing old program, or of a failing new one after all nodes are renewed", () => {
    const old = updated("unbounded");
    old.apply(reportOf(1, "n1", 1 as never, "failed", "exit_code"));
    expect(old.phase(1)).toBe("pending");
    const c = updated("unbounded");
    c.apply(reportOf(1, "n3", 2 as never, "running"));
    c.apply(renewal(c, "remove", "n1"));
    c.apply(renewal(c, "add", "n4"));
    c.apply(reportOf(1, "n4", 3 as never, "running"));
    c.apply(renewal(c, "remove", "n2"));
    expect(nodesOf(c)).toEqual(["n3", "n4"]);
    c.apply(reportOf(1, "n4", 3 as never, "failed", "exit_code"));
    expect(c.phase(1)).toBe("pending");
  });
});

describe("restarts", () => {
  it("are counted from 0 only after a long successful run", () => {
    const c = service();
    const crash = () => {
      c.report(1, "n1", "failed", "exit_code");
      const phase = c.state.allocation(id(1))?.phase;
      const until = phase?.kind === "pending" ? (phase.backoffUntil ?? 0) : 0;
      const pause = until - c.state.at;
      c.advance(pause);
      c.apply({ kind: "allocation.end_backoff", allocation: id(1) });
      c.place(1, "n1");
      c.report(1, "n1", "running");
      return pause;
    };
    expect([crash(), crash()]).toEqual([1_000, 2_000]);
    c.advance(LONG_RUN - 1);
    expect(crash()).toBe(4_000);
    c.advance(LONG_RUN);
    expect(crash()).toBe(1_000);
    const record = c.state.allocation(id(1));
    expect([record?.requeues, record === undefined ? 0 : countedRequeues(record)]).toEqual([4, 1]);
    expect([crash(), crash()]).toEqual([2_000, 4_000]);
    c.report(1, "n1", "failed", "exit_code");
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "requeue_limit" });
  });

  it("have a growing backoff", () => {
    expect([1, 2, 3, 9, 40].map((n) => backoffBefore(n))).toEqual([1_000, 2_000, 4_000, 256_000, 300_000]);
    const c = service();
    c.report(1, "n1", "failed", "exit_code");
    expect(c.phase(1)).toBe("pending");
    expect([...c.state.pending(vclusterId("batch"))]).toEqual([]);
    expect(verdict(c.one({ kind: "allocation.end_backoff", allocation: id(1) }))).toBe("stale_report");
    expect(verdict(c.place(1, "n2").outcomes[0])).toBe("stale_plan");
    c.advance(1_000);
    expect(verdict(c.one({ kind: "allocation.end_backoff", allocation: id(1) }))).toBe("accepted");
    expect(verdict(c.one({ kind: "allocation.end_backoff", allocation: id(1) }))).toBe("repeated");
    c.place(1, "n2");
    expect(c.phase(1)).toBe("staging");
  });

  it("are immediate after a node's failure, and for batch work the first time", () => {
    const c = service();
    c.apply(health("n1", "silent"));
    expect([...c.state.held()]).toEqual([]);
    const batch = createCluster(register("n1"), submit({ lifecycle: { requeuePolicy: "always" } }));
    batch.place(1, "n1");
    batch.report(1, "n1", "failed", "exit_code");
    expect([...batch.state.held()]).toEqual([]);
    batch.place(1, "n1");
    batch.report(1, "n1", "failed", "exit_code");
    expect([...batch.state.held()]).toMatchObject([{ phase: { backoffUntil: batch.state.at + 1_000 } }]);
  });
});

describe("an update of a service", () => {
  const update = (change: object): Command => ({
    kind: "allocation.update",
    origin: origin(),
    id: id(1),
    change: { service: change },
  });

  it("marks the nodes to be renewed, and is refused for batch work", () => {
    const c = service();
    c.apply(scale(c, "add", "n2"));
    c.apply(update({ task: { kind: "entrypoint", line: "serve --v2" } }));
    expect(c.state.allocation(id(1))?.renewal).toEqual({ through: 2, size: 2 });
    expect(verdict(c.one(scale(c, "add", "n3", { reason: "renewal" })))).toBe("accepted");
    expect(verdict(c.one(scale(c, "add", "n4", { reason: "renewal" })))).toBe("accepted");
    const batch = createCluster(register("n1"), submit());
    expect(verdict(batch.one(update({ task: { kind: "entrypoint", line: "x" } })))).toBe("invalid_argument");
    expect(verdict(c.one(update({ task: { kind: "entrypoint", line: "" } })))).toBe("invalid_argument");
    expect(verdict(c.one(update({ scale: scalePolicy(4, 2) })))).toBe("invalid_argument");
  });

  it("can change or remove its probe, and its nodes are renewed", () => {
    const c = service();
    const span = (ms: number) => ms as never;
    const probe = { kind: "tcp", port: 80, path: "", failureThreshold: 3 } as const;
    const asked = { ...probe, period: span(5_000), initialDelay: span(1_000), timeout: span(2_000) };
    c.apply(update({ probe: asked }));
    expect(c.state.allocation(id(1))).toMatchObject({ renewal: { through: 1, size: 1 }, spec: { probe: asked } });
    expect(verdict(c.one(update({ probe: { ...asked, port: 0 } })))).toBe("invalid_argument");
    expect(c.state.allocation(id(1))?.spec.probe).toEqual(asked);
    c.apply(update({ probe: null }));
    expect(c.state.allocation(id(1))?.spec).not.toHaveProperty("probe");
    const batch = createCluster(register("n1"), submit());
    expect(verdict(batch.one(update({ probe: asked })))).toBe("invalid_argument");
  });

  it("can lower its maximum below its size: nodes are removed, and none is added", () => {
    const c = service();
    c.apply(scale(c, "add", "n2"));
    c.apply(reportOf(1, "n2", 2 as never, "running"));
    // Every entry of a test is followed by a look at all that must hold.
    c.apply(update({ scale: scalePolicy(1, 1) }));
    expect(verdict(c.one(scale(c, "add", "n3")))).toBe("illegal_transition");
    expect(verdict(c.one(scale(c, "remove", "n2", { reason: "maximum" })))).toBe("accepted");
  });

  it("with one node requeues it, uncounted and without backoff", () => {
    const c = service();
    c.apply(update({ task: { kind: "entrypoint", line: "serve --v2" } }));
    c.apply({ kind: "allocation.requeue", allocation: id(1), expectedRequeues: 0, cause: "updated" });
    expect(c.state.allocation(id(1))).toMatchObject({ requeues: 0, phase: { kind: "pending", cause: "updated" } });
    expect([...c.state.held()]).toEqual([]);
  });
});
