// The identity of a cluster: who may work with whom, and what a restore makes of it.
import { describe, expect, test } from "vitest";
import { instant } from "../../src/base/ids.ts";
import { isClusterId, judgeIdentity, MAX_FORMER, restoredIdentity } from "../../src/model/cluster/identity.ts";
import { createCluster, verdict } from "../support/cluster.ts";

const [A, B, C] = ["a", "b", "c"].map((digit) => digit.repeat(32)) as [string, string, string];
const AT = instant(1_800_000_000_000);

describe("a stored identity", () => {
  test.each([
    ["no identity", null, { id: A, generation: 1, former: [] }, "same"],
    ["the same identity", { id: A, generation: 1 }, { id: A, generation: 1, former: [] }, "same"],
    ["a later generation", { id: A, generation: 1 }, { id: A, generation: 9, former: [] }, "same"],
    ["an earlier generation", { id: A, generation: 9 }, { id: A, generation: 1, former: [] }, "outdated"],
    ["another cluster", { id: A, generation: 1 }, { id: B, generation: 1, former: [] }, "foreign"],
    ["a cluster restored into the known one", { id: A, generation: 1 }, { id: B, generation: 2, former: [A] }, "same"],
  ] as const)("judges %s", (_, stored, met, kind) => {
    expect(judgeIdentity(stored, met).kind).toBe(kind);
  });
});

describe("a restore", () => {
  const backup = { id: A, generation: 1, former: [] };
  test("keeps the identity of the backup and remembers the empty cluster's", () => {
    const own = { id: B, generation: 1, former: [C] };
    expect(restoredIdentity(backup, own, AT)).toEqual({ id: A, generation: 1_800_000_000, former: [B, C] });
  });
  test("of one backup twice gives two generations", () => {
    const [first, second] = [AT, instant(AT + 1_000)].map((at) => restoredIdentity(backup, null, at)?.generation);
    expect(second).toBeGreaterThan(first ?? 0);
  });
  test("raises the generation even when the clock is behind", () => {
    expect(restoredIdentity({ ...backup, generation: 2_000_000_000 }, null, AT)?.generation).toBe(2_000_000_001);
  });
  test("of a backup without identity keeps the cluster's own", () => {
    const own = { id: B, generation: 1, former: [] };
    expect(restoredIdentity(null, own, AT)).toBe(own);
  });
  test("remembers a bounded number of former identities", () => {
    const former = Array.from({ length: 40 }, (_, n) => n.toString(16).padStart(32, "0"));
    expect(restoredIdentity({ ...backup, former }, null, AT)?.former).toHaveLength(MAX_FORMER);
  });
});

describe("cluster.found", () => {
  test("sets the identity once", () => {
    const c = createCluster();
    c.apply({ kind: "cluster.found", id: A });
    c.apply({ kind: "cluster.found", id: B });
    expect(c.state.identity).toEqual({ id: A, generation: 1, former: [] });
  });
  test.each(["", "A".repeat(32), "a".repeat(31), `${"a".repeat(31)}/`])("rejects %j", (id) => {
    const c = createCluster();
    expect(isClusterId(id)).toBe(false);
    expect(verdict(c.one({ kind: "cluster.found", id }))).toBe("invalid_argument");
    expect(c.state.identity).toBeNull();
  });
});
