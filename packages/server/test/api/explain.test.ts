// Explanations, trial runs, timelines and signals as a user meets them over REST: the real scheduler on the state
// of a memory plane.

import { create } from "@bufbuild/protobuf";
import type { AllocationId, Attempt, Command, NodeId, TenantId, UserName } from "@lattice/core";
import { pb } from "@lattice/wire";
import { beforeEach, describe, expect, test } from "vitest";
import type { Call } from "../../src/api/call/call.ts";
import { explain } from "../../src/api/handlers/explain.ts";
import { withVictims } from "../../src/api/handlers/victims.ts";
import type { Role } from "../../src/base/auth/principal.ts";
import { loadConfig } from "../../src/base/config/index.ts";
import { type Answer, callRest, type Running, startTestApi } from "./clients.ts";

let api: Running;

beforeEach(async () => {
  api = await startTestApi();
  for (const node of ["n1", "n2", "n3", "n4"]) api.plane.addNode(node);
  return () => api.close();
});

const call = (method: string, path: string, body?: object, user = "ada"): Promise<Answer> =>
  callRest(api, {
    method,
    path: `/api/v1/${path}`,
    headers: { "x-lattice-user": user },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

// biome-ignore lint/suspicious/noExplicitAny: answers are JSON
type Told = Record<string, any>;

async function ask(method: string, path: string, body?: object): Promise<Told> {
  const answer = await call(method, path, body);
  if ("problem" in answer) throw new Error(JSON.stringify(answer.problem));
  return answer.json as Told;
}

const submit = async (body: object): Promise<string> =>
  (await ask("POST", "allocations", { entrypoint: "true", walltime: "1h", ...body })).id;
const why = (id: string): Promise<Told> => ask("GET", `allocations/${id}/explain`);

describe("why", () => {
  test("shows the users of the nodes, the expected start, and changes that would start it sooner", async () => {
    api.plane.start(await submit({ nodes: 3, walltime: "2h" }), ["n1", "n2", "n3"]);
    const told = await why(await submit({ nodes: 3 }));
    expect(told.state).toBe("pending");
    expect(told.causes[0]).toMatchObject({ code: "busy" });
    expect(told.nodes).toMatchObject({ total: 4, needed: 3, matching: 4, free: 1 });
    expect(told.nodes.in_use).toMatchObject([{ allocation_id: "1", user: "ada", nodes: 3 }]);
    expect(told.queue).toMatchObject({ position: 1, length: 1 });
    expect(told.queue.scores.total).toBeGreaterThan(0);
    expect(told.queue.reserved_nodes).toHaveLength(3);
    expect(told.start_reserved).toBe(true);
    expect(Date.parse(told.estimated_start) - Date.parse(told.evaluated_at)).toBeGreaterThan(3_600_000);
    expect(told.summary).toMatch(/Expected to start in \d+ h/);
    expect(told.suggestions[0]).toMatchObject({
      kind: "nodes",
      change: { nodes: "1-3" },
      starts_now: true,
      verified_by: "cycle",
    });
    expect(told.tenant_limits[0]).toMatch(/fair share/);
  });

  test("names the victims to callers who may see them", async () => {
    const low = await submit({ nodes: 1, preemption_class: 0, tenant: "other" });
    const saves = await submit({ nodes: 1, preemption_class: 0, checkpoint: "auto" });
    api.plane.start(low, ["n1"]);
    api.plane.start(saves, ["n2"]);
    api.plane.start(await submit({ nodes: 2, preemption_class: 9 }), ["n3", "n4"]);
    const high = await submit({ nodes: 2, preemption_class: 9 });
    const victim = (allocation: string) => ({ allocation: allocation as AllocationId, attempt: 1 as Attempt });
    api.plane.apply({
      kind: "allocation.preempt",
      basis: api.plane.view().index,
      allocation: high as AllocationId,
      victims: [victim(low), victim(saves)],
      nodes: ["n1", "n2"] as NodeId[],
    });
    const told = await why(high);
    expect(told.causes[0]).toEqual({
      code: "preempting",
      text: `Preemption is freeing 2 nodes: allocation ${low} is stopping; allocation ${saves} is saving a checkpoint.`,
    });
    expect(told.summary).toContain("Preemption is freeing");
    expect(told.victims).toEqual([
      { allocation_id: low, tenant: "other", user: "ada", nodes: 1, stage: "stopping" },
      expect.objectContaining({ allocation_id: saves, nodes: 1, stage: "checkpointing" }),
    ]);
    const named = withVictims([], [{ allocationId: "", tenant: "", user: "", nodes: 1, stage: "stopping" }]);
    expect(named[0]?.text).toBe("Preemption is freeing 1 node: work of another user is stopping.");
  });

  test("counts the nodes that fail each constraint, and shows which change helps", async () => {
    const told = await why(await submit({ nodes: 2, constraints: { memory_gb: 64, features: ["nvme"] } }));
    expect(told.causes[0].code).toBe("no_matching_nodes");
    expect(told.nodes.failed_constraints).toEqual([
      { constraint: "features nvme", nodes: 4 },
      { constraint: "memory_gb", nodes: 4 },
    ]);
    const one = await why(await submit({ nodes: 2, constraints: { memory_gb: 64 } }));
    expect(one.suggestions).toMatchObject([
      { kind: "constraint", change: { "constraints.memory_gb": "" }, starts_now: true },
    ]);
  });

  test("a feature that no node has is named first, with the nearest existing one", async () => {
    api.plane.addNode("n5", "127.0.0.1", ["gpu-a100", "nvme"]);
    api.plane.addNode("n6", "127.0.0.1", ["nvme"]);
    const asked = { nodes: 1, constraints: { features: ["nvme", "gpu-a10"] } };
    const near = 'o node has the feature "gpu-a10" (the nearest is "gpu-a100", which 1 node has)';
    const { id, warnings } = await ask("POST", "allocations", { entrypoint: "true", ...asked });
    expect(warnings).toContain(`n${near}: it waits until nodes join that satisfy it`);
    const told = await why(id);
    expect(told.summary).toBe(`N${near}. The start time is not known.`);
    expect(told.causes).toEqual([
      { code: "no_matching_nodes", text: `N${near}.` },
      { code: "no_matching_nodes", text: expect.stringContaining("without the feature gpu-a10: 6") },
    ]);
    expect(told.causes[1].text).toContain("without the feature nvme: 4");
    expect(told.nodes.failed_constraints).toEqual([
      { constraint: "features gpu-a10", nodes: 6 },
      { constraint: "features nvme", nodes: 4 },
    ]);
    const far = await ask("POST", "allocations:plan", { entrypoint: "true", constraints: { features: ["zfs"] } });
    expect(far.warnings).toContain(
      'no node has the feature "zfs" (nodes have nvme, gpu-a100): it waits until nodes join that satisfy it',
    );
    const there = await why(await submit({ nodes: 2, constraints: { features: ["gpu-a100"] } }));
    expect(there.causes[0].text).toBe("Needs 2 nodes; 1 of the 6 there are suit it (without the feature gpu-a100: 5).");
  });

  test("a shorter walltime is suggested when a reservation blocks the start", async () => {
    // The same class, so that it is not preempted.
    api.plane.start(await submit({ nodes: 2, walltime: "1h", preemption_class: 10 }), ["n1", "n2"]);
    await submit({ nodes: 4, preemption_class: 10 });
    const told = await why(await submit({ nodes: 1, walltime: "3h", preemption_class: 0 }));
    expect(told.causes.map(({ code }: { code: string }) => code)).toEqual(["reserved", "priority"]);
    expect(told.nodes.reserved).toMatchObject([{ allocation_id: "2", nodes: 2 }]);
    expect(told.queue).toMatchObject({ position: 2, ahead: [{ allocation_id: "2", position: 1, nodes: 4 }] });
    expect(told.suggestions).toMatchObject([{ kind: "walltime", starts_now: true }]);
    // The suggestion holds: with the change it would start at once.
    const planned = await ask("POST", "allocations:plan", {
      entrypoint: "true",
      nodes: 1,
      preemption_class: 0,
      walltime: told.suggestions[0].change.walltime,
    });
    expect(planned).toMatchObject({ starts_now: true, backfilled: true });
  });

  test("other users' work is counted, but named only to callers who may see it", async () => {
    api.plane.start(await submit({ nodes: 3, tenant: "other" }), ["n1", "n2", "n3"]);
    await submit({ nodes: 4, tenant: "unseen", preemption_class: 10 });
    const id = await submit({ nodes: 2, preemption_class: 0 });
    const principal = (role: Role) => ({ user: "ada", tenant: "default", roles: [role], scopes: [] });
    const as = (role: Role): Promise<pb.Explanation> => {
      const call = { plane: api.plane, principal: principal(role), config: loadConfig(null), warnings: [] };
      const signal = AbortSignal.timeout(60_000);
      return explain({ ...call, signal } as unknown as Call, create(pb.ExplainRequestSchema, { id }));
    };
    const [user, operator] = [await as("User"), await as("Operator")];
    expect(user.nodes?.inUse).toMatchObject([{ allocationId: "", tenant: "", user: "", nodes: 3 }]);
    expect(operator.nodes?.inUse).toMatchObject([{ allocationId: "1", tenant: "other", user: "ada", nodes: 3 }]);
    expect(user.queue?.ahead).toMatchObject([{ allocationId: "", tenant: "" }]);
    expect(JSON.stringify(user.causes)).not.toContain("tenant other");
    const stranger = { ...principal("User"), tenant: "third" };
    const call = { plane: api.plane, principal: stranger, config: loadConfig(null), warnings: [] } as unknown as Call;
    await expect(explain(call, create(pb.ExplainRequestSchema, { id }))).rejects.toMatchObject({
      problem: { code: "forbidden" },
    });
  });

  test("shows quotas in sentences", async () => {
    api.plane.apply(withQuota("team", 2));
    api.plane.start(await submit({ nodes: 2, tenant: "team" }), ["n1", "n2"]);
    const told = await why(await submit({ nodes: 2, tenant: "team" }));
    expect(told.causes[0]).toMatchObject({ code: "quota_nodes" });
    expect(told.tenant_limits).toContain("Tenant team uses 2 of the 2 nodes it may use.");
  });

  test("started work is explained with its nodes and reason, other work with its end", async () => {
    const id = await submit({ nodes: 2 });
    api.plane.start(id, ["n1", "n2"]);
    const running = await why(id);
    expect(running).toMatchObject({ state: "running", placement: { nodes: ["n1", "n2"], attempt: 1 } });
    expect(running.summary).toMatch(/^It started on 2 nodes/);
    api.plane.finish(id, 0);
    expect(await why(id)).toMatchObject({ state: "completed", placement: { nodes: ["n1", "n2"] } });
    const never = await submit({ nodes: 9 });
    await ask("POST", `allocations/${never}/cancel`, { reason: "too large" });
    expect((await why(never)).summary).toMatch(/cancelled before it started/);
    expect(await call("GET", "allocations/999/explain")).toMatchObject({ problem: { code: "unknown_allocation" } });
  });
});

const withQuota = (tenant: string, maxNodes: number): Command => ({
  kind: "tenant.create",
  origin: { user: "root" as UserName, requestId: null, bodyHash: "" },
  tenant: tenant as TenantId,
  description: "",
  maxPreemptionClass: 10,
  quota: {
    maxNodes,
    maxConcurrentAllocations: null,
    fairShareMilli: null,
    gpuHoursBudget: null,
    nodeHoursBudget: null,
    burstAllowanceMilli: null,
  },
});

describe("a trial run", () => {
  test("shows nodes and start time, and changes nothing", async () => {
    const before = api.plane.hash();
    const now = await ask("POST", "allocations:plan", { entrypoint: "true", nodes: 3, tenant: "newcomers" });
    expect(now).toMatchObject({ starts_now: true, nodes: ["n1", "n2", "n3"], tenant: "newcomers" });
    expect(now.warnings[0]).toMatch(/would be created/);
    expect(now.scores.total).toBeGreaterThan(0);
    expect(api.plane.hash()).toBe(before);
    api.plane.start(await submit({ nodes: 4 }), ["n1", "n2", "n3", "n4"]);
    const busy = api.plane.hash();
    const later = await ask("POST", "allocations:plan", { entrypoint: "true", nodes: 3 });
    expect(later.starts_now).toBeFalsy();
    expect(later.causes[0].code).toBe("busy");
    expect(later.start_reserved).toBe(true);
    expect(Date.parse(later.estimated_start)).toBeGreaterThan(api.plane.now());
    expect(api.plane.hash()).toBe(busy);
    expect(api.plane.proposed.filter(({ kind }) => kind === "allocation.submit")).toHaveLength(1);
  });

  test("names the work that it would preempt", async () => {
    const low = await submit({ nodes: 4, walltime: "4h", preemption_class: 0, tenant: "other" });
    api.plane.start(low, ["n1", "n2", "n3", "n4"]);
    const before = api.plane.hash();
    const body = { entrypoint: "true", nodes: 4, preemption_class: 9 };
    const planned = await ask("POST", "allocations:plan", body);
    expect(planned.would_preempt).toMatchObject([{ allocation_id: low, tenant: "other", nodes: 4 }]);
    expect(planned.nodes).toHaveLength(4);
    expect(planned.causes[0].code).toBe("preempting");
    expect(api.plane.hash()).toBe(before);
  });

  test("fails as the submission would", async () => {
    api.plane.apply(withQuota("team", 2));
    const bad = [
      { entrypoint: "true", nodes: 0 },
      { entrypoint: "true", nodes: 3, tenant: "team" },
      { entrypoint: "true", vcluster: "nowhere" },
      { entrypoint: "true", walltime: "soon" },
      { entrypoint: "true", colour: "red" },
      { nodes: 1 },
      { entrypoint: "true", request_id: "a b" },
    ];
    for (const body of bad) {
      const planned = await call("POST", "allocations:plan", body);
      expect(planned).toHaveProperty("problem");
      expect(planned).toEqual(await call("POST", "allocations", body));
    }
  });
});

describe("a timeline", () => {
  test("contains submission, refusals, placement, start, requeue and end", async () => {
    const id = await submit({ nodes: 1, requeue_policy: "always" });
    const record = api.plane.view().allocation(id as never);
    if (record === undefined) throw new Error("not submitted");
    api.plane.apply({
      kind: "plan.commit",
      vcluster: record.spec.vcluster,
      basis: api.plane.view().index,
      placements: [
        { allocation: record.id, attempt: 1 as never, nodes: ["n9" as never], scores: {}, backfilled: false },
      ],
    });
    api.plane.start(id, ["n1"]);
    api.plane.finish(id, 7);
    api.plane.start(id, ["n2"]);
    api.plane.finish(id, 0);
    const { entries } = await ask("GET", `allocations/${id}/timeline`);
    expect(entries.map((entry: Told) => [entry.kind, entry.attempt || 0, entry.nodes])).toEqual([
      ["submitted", 0, []],
      ["placement_refused", 0, []],
      ["placed", 1, ["n1"]],
      ["started", 1, ["n1"]],
      ["attempt_failed", 1, ["n1"]],
      ["requeued", 1, ["n1"]],
      ["placed", 2, ["n2"]],
      ["started", 2, ["n2"]],
      ["completed", 2, ["n2"]],
    ]);
  });
});

describe("signals", () => {
  test("invalid values are refused by name, and nothing changes", async () => {
    await ask("PUT", "admin/signals", { signals: { energy_price: 0.4 }, valid_seconds: 60 });
    for (const signals of [
      { energy_price: 1.5 },
      { power: { limit: 0, used: 1 } },
      { storage: { limit: 1, used: -1 } },
      { congestion: { g0: -0.1 } },
      { checkpoint_minutes: { "1": 100_000 } },
    ]) {
      expect(await call("PUT", "admin/signals", { signals })).toMatchObject({ problem: { code: "invalid_argument" } });
    }
    expect(await ask("GET", "admin/signals")).toMatchObject({ energy_price: 0.4 });
    for (let n = 0; n < 61; n += 1) api.plane.apply();
    expect((await ask("GET", "admin/signals")).energy_price).toBeUndefined();
  });

  test("a power budget delays a start and is named as the cause", async () => {
    for (const id of ["p1", "p2"]) {
      api.plane.addNode(id);
      const node = api.plane.view().node(id as NodeId);
      if (node === undefined) throw new Error("not registered");
      const { group, conformance, homeVCluster, address, agentVersion, bootId } = node;
      const capabilities = { ...node.capabilities, features: ["metered"], powerWatts: 500 };
      const told = { group, conformance, homeVCluster, address, agentVersion, bootId, capabilities };
      api.plane.apply({ kind: "node.register", node: node.id, ...told });
    }
    await ask("PUT", "admin/signals", { signals: { power: { limit: 1200, used: 400 } } });
    const told = await why(await submit({ nodes: 2, constraints: { features: ["metered"] } }));
    expect(told.causes[0]).toMatchObject({ code: "power" });
    expect(told.suggestions).toMatchObject([{ kind: "nodes", change: { nodes: "1-2" }, starts_now: true }]);
  });
});
