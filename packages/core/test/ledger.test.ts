// The ledger: which use is charged, to whom, on which day, and how long it is kept.

import {
  applyEntry,
  beginRestore,
  budgetUse,
  DAY_MS,
  dayOf,
  duration,
  instant,
  LEDGER_DAYS,
  lastDays,
  MAX_LEDGER_USERS,
  OTHER_USERS,
  type State,
  snapshotLines,
  stateHash,
  UNLIMITED,
  type UserName,
  type Window,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  cancel,
  createCluster,
  entryFor,
  health,
  id,
  register,
  sha256,
  submit,
  tenantId,
} from "./support/cluster.ts";

const HOUR = 3_600_000;
/** Clusters of these tests begin here. */
const BEGIN = 1_000_000;
const physics = tenantId("physics");
const ada = "ada" as UserName;
const eve = "eve" as UserName;

const gpuNode = (name: string, gpuCount: number) =>
  register(name, {
    capabilities: {
      cpuCores: 8,
      memoryBytes: 1 << 30,
      gpuType: "GH200",
      gpuCount,
      features: [],
      hostname: name,
      kernel: "6.1",
      isolation: "cgroup",
      hollow: false,
    },
  });

const by = (user: UserName) => ({ user, requestId: null, bodyHash: "" });
const long = { lifecycle: { walltime: duration(200 * 24 * HOUR) } };

const started = (): Cluster => {
  const c = createCluster(gpuNode("n1", 4), gpuNode("n2", 2), submit({ nodes: 2, ...long }));
  c.place(1, "n1", "n2");
  c.report(1, "n1", "running");
  c.report(1, "n2", "running");
  return c;
};

const everything = (state: State): Window => lastDays(state.at, LEDGER_DAYS);
const chargedOf = ({ state }: Cluster) => state.allocation(id(1))?.charged;
const ofPhysics = ({ state }: Cluster) => state.ledger.spent({ tenant: physics }, everything(state));

describe("a charge", () => {
  it("counts nodes and GPUs from start to end", () => {
    const c = started();
    c.advance(10_000);
    c.report(1, "n1", "completed");
    // A node that is done waits for the others: it is held all the same.
    c.advance(5_000);
    c.report(1, "n2", "completed");
    expect(c.phase(1)).toBe("completed");
    c.advance(60_000);
    c.apply(submit());
    expect(ofPhysics(c)).toEqual({ nodeMs: 2 * 15_000, gpuMs: 6 * 15_000 });
    expect(c.state.ledger.spent({ tenant: physics, user: ada }, everything(c.state)).nodeMs).toBe(30_000);
    expect(c.state.ledger.spent({ tenant: physics, user: eve }, everything(c.state)).nodeMs).toBe(0);
    expect(c.state.ledger.spent({ tenant: tenantId("art") }, everything(c.state)).nodeMs).toBe(0);
  });

  it("covers every way to end an attempt, and is zero for an attempt that never ran", () => {
    const ways: readonly ((c: Cluster) => void)[] = [
      (c) => c.apply(cancel(1)),
      (c) => c.report(1, "n1", "failed"),
      (c) => c.report(1, "n1", "failed", "lost"), // queued again
      (c) => c.apply(health("n1", "silent")),
    ];
    for (const end of ways) {
      const c = started();
      c.advance(7_000);
      end(c);
      c.advance(9_000);
      c.apply(submit());
      expect(ofPhysics(c)).toEqual({ nodeMs: 14_000, gpuMs: 42_000 });
      expect(c.state.ledger.running({}).allocations).toBe(0);
    }
    const c = createCluster(register("n1"), submit());
    c.place(1, "n1");
    c.advance(7_000);
    c.apply(cancel(1));
    expect(ofPhysics(c).nodeMs).toBe(0);
    expect(c.state.tables.ledger.size).toBe(0);
  });

  it("covers each attempt of one allocation", () => {
    const c = createCluster(register("n1"), submit());
    for (const ms of [3_000, 4_000]) {
      c.place(1, "n1");
      c.report(1, "n1", "running");
      c.advance(ms);
      c.report(1, "n1", "failed", "lost");
    }
    expect(ofPhysics(c).nodeMs).toBe(7_000);
    expect(chargedOf(c)).toEqual({ nodeMs: 7_000, gpuMs: 0 });
  });

  it("is kept on the record, also for a node that is removed later", () => {
    const c = started();
    expect(chargedOf(c)).toEqual({ nodeMs: 0, gpuMs: 0 });
    c.advance(5_000);
    c.report(1, "n1", "completed");
    c.report(1, "n2", "completed");
    c.apply(gpuNode("n2", 0));
    expect(chargedOf(c)).toEqual(ofPhysics(c));
    expect(chargedOf(c)).toEqual({ nodeMs: 10_000, gpuMs: 30_000 });
  });

  it("on the record includes days before the ledger begins", () => {
    const c = createCluster(register("n1"), submit(long));
    c.place(1, "n1");
    c.report(1, "n1", "running");
    c.advance(150 * DAY_MS);
    c.report(1, "n1", "completed");
    expect(chargedOf(c)?.nodeMs).toBe(150 * DAY_MS);
    expect(ofPhysics(c).nodeMs).toBeLessThan(LEDGER_DAYS * DAY_MS);
  });

  it("is split at midnight UTC", () => {
    const c = createCluster(register("n1"), submit(long));
    c.advance(DAY_MS - BEGIN - HOUR);
    c.place(1, "n1");
    c.report(1, "n1", "running");
    c.advance(DAY_MS + 3 * HOUR);
    const running = c.state.ledger.days({}, { from: 0, to: 2, now: instant(2 * DAY_MS + 2 * HOUR) });
    c.report(1, "n1", "completed");
    const ended = c.state.ledger.days({}, { from: 0, to: 2, now: c.state.at });
    expect(ended.map((day) => day.nodeMs)).toEqual([HOUR, DAY_MS, 2 * HOUR]);
    expect(running).toEqual(ended);
    expect([...c.state.tables.ledger.keys()]).toEqual(["0 physics ada", "1 physics ada", "2 physics ada"]);
  });
});

describe("the use in a window", () => {
  it("includes running work, at any instant", () => {
    const c = started();
    const at = (ms: number) => c.state.ledger.spent({}, lastDays(instant(c.state.at + ms), 90));
    expect(at(0)).toEqual({ nodeMs: 0, gpuMs: 0 });
    expect(at(1_000)).toEqual({ nodeMs: 2_000, gpuMs: 6_000 });
    expect(c.state.ledger.running({ tenant: physics })).toEqual({ allocations: 1, nodes: 2, gpus: 6 });
    // A reader whose clock is behind the log sees no negative use.
    expect(at(-500)).toEqual({ nodeMs: 0, gpuMs: 0 });
  });

  it("counts the GPUs of a node that returned with other GPUs", () => {
    const c = started();
    c.apply(gpuNode("n1", 8));
    expect(c.state.ledger.running({}).gpus).toBe(10);
    c.advance(1_000);
    c.apply(cancel(1));
    expect(ofPhysics(c).gpuMs).toBe(10_000);
  });

  it("counts only the part of an attempt inside the window", () => {
    const c = started();
    c.advance(100 * DAY_MS);
    c.apply(submit());
    const inWindow = 2 * ((LEDGER_DAYS - 1) * DAY_MS + (c.state.at % DAY_MS));
    expect(ofPhysics(c).nodeMs).toBe(inWindow);
    expect(c.state.ledger.spent({}, lastDays(c.state.at, 1)).nodeMs).toBe(2 * (c.state.at % DAY_MS));
    c.apply(cancel(1));
    expect(ofPhysics(c).nodeMs).toBe(inWindow);
    expect(c.state.tables.ledger.size).toBe(LEDGER_DAYS);
  });

  it("is listed by tenant and user", () => {
    const c = createCluster(register("n1"), submit({ tenant: "art" }, by(eve)), submit({}, by(ada)));
    for (const n of [1, 2]) {
      c.place(n, "n1");
      c.report(n, "n1", "running");
      c.advance(1_000);
      c.report(n, "n1", "completed");
    }
    expect(c.state.ledger.tenants()).toEqual(["art", "physics"]);
    expect(c.state.ledger.users(physics)).toEqual(["ada"]);
    expect(c.state.ledger.users(tenantId("unknown"))).toEqual([]);
  });

  it("is compared with the tighter of the two budgets", () => {
    const spent = { nodeMs: 40 * HOUR, gpuMs: 90 * HOUR };
    expect(budgetUse(UNLIMITED, spent)).toBeNull();
    expect(budgetUse({ ...UNLIMITED, gpuHoursBudget: 100 }, spent)).toBe(0.9);
    expect(budgetUse({ ...UNLIMITED, nodeHoursBudget: 100 }, spent)).toBe(0.4);
    expect(budgetUse({ ...UNLIMITED, gpuHoursBudget: 100, nodeHoursBudget: 20 }, spent)).toBe(2);
    expect(budgetUse({ ...UNLIMITED, gpuHoursBudget: 0 }, { nodeMs: 0, gpuMs: 0 })).toBe(1);
  });
});

describe("the ledger", () => {
  it("drops a day exactly when it leaves the window", () => {
    const c = started();
    c.advance(1_000);
    c.apply(cancel(1));
    c.advance((LEDGER_DAYS - 1) * DAY_MS);
    c.apply(submit());
    expect(dayOf(c.state.at)).toBe(LEDGER_DAYS - 1);
    expect(ofPhysics(c).nodeMs).toBe(2_000);
    c.advance(DAY_MS);
    c.apply(submit());
    expect(c.state.tables.ledger.size).toBe(0);
    expect(c.state.ledger.tenants()).toEqual([]);
    expect(c.state.ledger.oldestDay).toBe(Number.POSITIVE_INFINITY);
  });

  it("limits the users of a tenant, and counts the rest together", () => {
    const { state } = createCluster();
    for (let n = 0; n < MAX_LEDGER_USERS; n += 1) {
      state.putBucket({ tenant: physics, user: `u${n}` as UserName, day: 0, nodeMs: 1, gpuMs: 0 });
    }
    const apply = (...commands: Parameters<typeof entryFor>[2]) =>
      applyEntry(state, entryFor(state, state.at, commands));
    apply(register("n1"));
    for (const [n, user] of [eve, "u7" as UserName, ada].entries()) {
      apply(submit({}, by(user)));
      const ref = { allocation: String(n + 1) as never, attempt: 1 as never };
      const placement = { ...ref, nodes: ["n1" as never], scores: {}, backfilled: false };
      apply({ kind: "plan.commit", vcluster: "batch" as never, basis: state.index, placements: [placement] });
      const word = { ...ref, node: "n1" as never, exitCode: null, reason: null, message: "" };
      apply({ kind: "attempt.report", ...word, state: "running" });
      applyEntry(state, entryFor(state, state.at + 1_000, [{ kind: "attempt.report", ...word, state: "completed" }]));
    }
    const spent = (user: UserName) => state.ledger.spent({ tenant: physics, user }, everything(state)).nodeMs;
    expect(spent("u7" as UserName)).toBe(1_001);
    expect(spent(OTHER_USERS)).toBe(2_000);
    expect(spent(ada)).toBe(0);
    expect(state.ledger.userCount(physics)).toBe(MAX_LEDGER_USERS + 1);
  });

  it("is part of snapshots and the hash, and an older snapshot gives an empty ledger", () => {
    const c = started();
    c.advance(5_000);
    c.apply(submit());
    const before = [...snapshotLines(c.state, sha256)];
    c.advance(1_000);
    const hash = stateHash(c.state, sha256);
    c.apply(cancel(1));
    expect(stateHash(c.state, sha256)).not.toBe(hash);
    const restored = restore(snapshotLines(c.state, sha256));
    expect(stateHash(restored, sha256)).toBe(stateHash(c.state, sha256));
    expect(restored.ledger.days({}, everything(c.state))).toEqual(c.state.ledger.days({}, everything(c.state)));

    expect(before.some((line) => line.startsWith("ledger"))).toBe(false);
    const old = restore(before);
    expect(old.tables.ledger.size).toBe(0);
    expect(old.ledger.running({ tenant: physics })).toEqual({ allocations: 1, nodes: 2, gpus: 6 });
    const tampered = [...snapshotLines(c.state, sha256)].map((line) => line.replace('"nodeMs":12000', '"nodeMs":1'));
    expect(() => restore(tampered)).toThrow(/damaged/);
  });
});

function restore(lines: Iterable<string>): State {
  const reader = beginRestore(sha256);
  for (const line of lines) reader.line(line);
  return reader.finish();
}
