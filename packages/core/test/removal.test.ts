// The deletion of tenants and vClusters, settings, and the telemetry mode of an allocation.

import {
  type AllocationSpec,
  beginRestore,
  type Command,
  duration,
  snapshotLines,
  stateHash,
  telemetryOf,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { brokenInvariants } from "./invariants/broken-invariants.ts";
import {
  cancel,
  createCluster,
  deleteTenant,
  deleteVCluster,
  id,
  origin,
  plan,
  register,
  setConfig,
  sha256,
  submit,
  tenant,
  tenantId,
  vcluster,
  vclusterId,
  verdict,
} from "./support/cluster.ts";

describe("a deletion", () => {
  it("of a tenant or vCluster is refused while it has vClusters, work or nodes", () => {
    const c = createCluster(register("n1"), tenant("art"), vcluster("studio", { tenant: tenantId("art") }));
    c.apply(submit({ tenant: "art", vcluster: "studio" }));
    expect(verdict(c.one(deleteTenant("art")))).toBe("illegal_transition");
    expect(verdict(c.one(deleteVCluster("studio")))).toBe("illegal_transition");
    c.apply(plan(c.state, 1, ["n1"], "studio"));
    c.apply(cancel(id(1)));
    expect(verdict(c.one(deleteVCluster("studio")))).toBe("illegal_transition");
    c.report(1, "n1", "failed");
    expect(verdict(c.one(deleteVCluster("studio")))).toBe("accepted");
    expect(verdict(c.one(deleteTenant("art")))).toBe("accepted");
    expect([c.state.tenant(tenantId("art")), c.state.vcluster(vclusterId("studio"))]).toEqual([undefined, undefined]);
    expect(brokenInvariants(c.state)).toEqual([]);
    expect(verdict(c.one(deleteTenant("art")))).toBe("unknown_tenant");
    expect(verdict(c.one(deleteVCluster("studio")))).toBe("unknown_vcluster");
  });
  it("of the default vCluster, or of the home of a node, is refused", () => {
    const c = createCluster(vcluster("home"));
    c.apply(register("n1", { homeVCluster: vclusterId("home") }));
    expect(verdict(c.one(deleteVCluster("batch")))).toBe("illegal_transition");
    expect(verdict(c.one(deleteVCluster("home")))).toBe("illegal_transition");
  });
});

describe("settings", () => {
  it("are part of hash and snapshot, and null unsets them", () => {
    const c = createCluster();
    const before = stateHash(c.state, sha256);
    expect(verdict(c.one(setConfig("a.b", "3")))).toBe("accepted");
    expect(verdict(c.one(setConfig("a.b", "3")))).toBe("repeated");
    expect(stateHash(c.state, sha256)).not.toBe(before);
    const restore = beginRestore(sha256);
    for (const line of snapshotLines(c.state, sha256)) restore.line(line);
    expect([...restore.finish().settings()]).toMatchObject([{ key: "a.b", value: "3", setBy: "ada" }]);
    expect(verdict(c.one(setConfig("a.b", null)))).toBe("accepted");
    expect([...c.state.settings()]).toEqual([]);
    for (const key of ["", "a", "A.b", "a..b", `a.${"b".repeat(200)}`]) {
      expect(verdict(c.one(setConfig(key, "1")))).toBe("invalid_argument");
    }
  });
});

describe("telemetry", () => {
  const update = (mode: "prod" | "debug", lasts: number | null): Command => ({
    kind: "allocation.update",
    origin: origin(),
    id: id(1),
    change: { telemetry: { mode, lasts: lasts === null ? null : duration(lasts) } },
  });
  it("returns to prod after its time, or on command", () => {
    const c = createCluster(submit());
    expect(verdict(c.one(update("debug", 60_000)))).toBe("accepted");
    const specNow = (): Pick<AllocationSpec, "telemetry"> => c.state.allocation(id(1))?.spec ?? {};
    const spec = specNow();
    const until = spec.telemetry?.until ?? 0;
    expect([telemetryOf(spec, c.state.at), telemetryOf(spec, until as never)]).toEqual(["debug", "prod"]);
    expect(verdict(c.one(update("prod", null)))).toBe("accepted");
    expect(specNow()).not.toHaveProperty("telemetry");
    expect(verdict(c.one(update("debug", 0)))).toBe("invalid_argument");
    expect(verdict(c.one(update("loud" as never, null)))).toBe("invalid_argument");
  });
});
