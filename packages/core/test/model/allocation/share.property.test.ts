// Shares of a node: how an allocation that asks for a part is measured, and that shares never add up to more than a node.

import { type Claim, fitsRoom, isSharedBy, mayShare, roomOf, type Share, shareOf, type VCluster } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WHOLE } from "../../../src/model/allocation/share.ts";
import { scalePolicy, spec, tenantId, vclusterId } from "../../support/cluster.ts";

const NODE = { cpuCores: 8, memoryBytes: 1024, gpuCount: 4 };
const wish = (cpuCores: number, memoryBytes: number, gpuCount: number) => ({ cpuCores, memoryBytes, gpuCount });

describe("a share", () => {
  it.each([
    [wish(4, 0, 0), { cpuCores: 4, memoryBytes: 512, gpuCount: 0, part: 512 }],
    [wish(0, 256, 0), { cpuCores: 2, memoryBytes: 256, gpuCount: 0, part: 256 }],
    [wish(0, 0, 1), { cpuCores: 2, memoryBytes: 256, gpuCount: 1, part: 256 }],
    [wish(1, 0, 4), { cpuCores: 1, memoryBytes: 1024, gpuCount: 4, part: 1024 }],
    [wish(0, 1, 0), { cpuCores: 1, memoryBytes: 1, gpuCount: 0, part: 1 }],
    [wish(8, 1024, 4), { cpuCores: 8, memoryBytes: 1024, gpuCount: 4, part: 1024 }],
    [wish(3, 0, 0), { cpuCores: 3, memoryBytes: 384, gpuCount: 0, part: 384 }],
  ])("of %j is %j", (wanted, share) => {
    expect(shareOf(wanted, NODE)).toEqual(share);
  });

  it("of a node without GPUs is measured by the rest", () => {
    expect(shareOf(wish(2, 0, 0), { ...NODE, gpuCount: 0 })).toMatchObject({ part: 256, gpuCount: 0 });
  });

  it("is charged for at least what it holds, and for at most the node", () => {
    const wishes = fc.tuple(fc.nat(8), fc.nat(1024), fc.nat(4)).filter((amounts) => amounts.some((n) => n > 0));
    fc.assert(
      fc.property(wishes, ([cpuCores, memoryBytes, gpuCount]) => {
        const share = shareOf({ cpuCores, memoryBytes, gpuCount }, NODE);
        expect(share.part).toBeGreaterThan(0);
        expect(share.part).toBeLessThanOrEqual(WHOLE);
        for (const key of ["memoryBytes", "gpuCount"] as const) {
          expect(share[key] * WHOLE).toBeLessThanOrEqual(share.part * NODE[key]);
        }
        expect(share.cpuCores).toBeGreaterThanOrEqual(Math.max(1, cpuCores));
        expect(share.memoryBytes).toBeGreaterThanOrEqual(memoryBytes);
        expect(share.gpuCount).toBe(gpuCount);
      }),
    );
  });

  it("that fits leaves no amount negative, and one that does not fit would", () => {
    const wishes = fc.array(fc.tuple(fc.nat(8), fc.nat(1024), fc.nat(4)), { maxLength: 12 });
    fc.assert(
      fc.property(wishes, (list) => {
        const claims: Claim[] = [];
        for (const [cpuCores, memoryBytes, gpuCount] of list) {
          if (cpuCores + memoryBytes + gpuCount === 0) continue;
          const share = shareOf({ cpuCores, memoryBytes, gpuCount }, NODE);
          const room = roomOf({ capabilities: NODE as never, claims });
          const left = [
            room.cpuCores - share.cpuCores,
            room.memoryBytes - share.memoryBytes,
            room.gpuCount - share.gpuCount,
          ];
          expect(fitsRoom(share, room)).toBe(left.every((amount) => amount >= 0));
          if (fitsRoom(share, room)) claims.push({ share } as unknown as Claim);
        }
        const room = roomOf({ capabilities: NODE as never, claims });
        expect(Math.min(room.cpuCores, room.memoryBytes, room.gpuCount)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("the room on a node", () => {
  it("is none beside an exclusive claim", () => {
    expect(roomOf({ capabilities: NODE as never, claims: [{} as Claim] })).toEqual(wish(0, 0, 0));
  });

  it("is taken by a claim until it is released, also while it is being released", () => {
    const share: Share = { ...wish(2, 100, 1), part: 256 };
    const claims = [{ share, releasing: true } as unknown as Claim];
    expect(roomOf({ capabilities: NODE as never, claims })).toEqual(wish(6, 924, 3));
  });
});

describe("a node with claims", () => {
  const owner = { tenant: tenantId("physics"), vcluster: vclusterId("small") };
  const claim = (change: Partial<Claim> = {}): Claim => ({ ...owner, exclusive: false, ...change }) as Claim;
  const ready = { kind: "ready" } as never;

  it.each<[boolean, string, readonly Claim[]]>([
    [true, "claims of the same owner", [claim(), claim()]],
    [true, "a claim that is being released", [claim({ releasing: true })]],
    [false, "no claims", []],
    [false, "an exclusive claim", [claim({ exclusive: true })]],
    [false, "a claim of another tenant", [claim(), claim({ tenant: tenantId("art") })]],
    [false, "a claim of another vCluster", [claim({ vcluster: vclusterId("batch") })]],
  ])("may be joined: %s with %s", (joins, _name, claims) => {
    expect(isSharedBy({ state: ready, claims }, owner)).toBe(joins);
  });

  it.each(["degraded", "draining", "drained", "down", "unknown", "booting", "failed"])(
    "is not joined while it is %s",
    (kind) => {
      expect(isSharedBy({ state: { kind } as never, claims: [claim()] }, owner)).toBe(false);
    },
  );
});

describe("an allocation", () => {
  const shares = { scheduler: "hpc_backfill", sharesNodes: true } as unknown as VCluster;
  const half = spec({ resources: { cpuCores: 4 } });

  it.each([
    [true, "asks for cores of one node", half],
    [true, "asks for GPUs of one node", spec({ resources: { gpuCount: 1 } })],
    [true, "asks for memory of one node", spec({ resources: { memoryBytes: 1 } })],
    [false, "names no amount", spec()],
    [false, "asks for two nodes", spec({ nodes: 2, resources: { cpuCores: 4 } })],
    [false, "asks for one or two nodes", spec({ nodes: [1, 2], resources: { cpuCores: 4 } })],
    [
      false,
      "scales",
      spec({
        resources: { cpuCores: 4 },
        lifecycle: { kind: "reactive", walltime: null, scale: scalePolicy(1, 3) },
      }),
    ],
  ])("may share a node: %s when it %s", (may, _name, wanted) => {
    expect(mayShare(shares, { spec: wanted })).toBe(may);
  });

  it("shares no node of a vCluster that gives whole nodes", () => {
    const whole = { scheduler: "hpc_backfill" } as unknown as VCluster;
    expect(mayShare(whole, { spec: half })).toBe(false);
  });
});
