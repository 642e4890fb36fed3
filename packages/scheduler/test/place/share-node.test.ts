// Shared nodes: a request for less than a node joins the fullest node with capacity, without delaying reservations.

import type { NodeId, TenantId } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type CycleInput, cycle, type PendingInput, type SharedNodeInput, WALLTIME_GRACE } from "../../src/index.ts";
import { busy, input, type JobFields, job, MINUTE, NOW, node, nodeIds, release, tenant } from "../make.ts";

const whole = { cpuCores: 8, memoryBytes: 1024, gpuCount: 4 };
const part = (id: number, gpuCount: number, fields: JobFields = {}): PendingInput => ({
  ...job(id, { ...fields, constraints: { gpuCount } }),
  canShareNode: true,
});
const room = (id: string, gpuCount: number, of = "physics"): SharedNodeInput => ({
  node: id as NodeId,
  tenant: of as TenantId,
  capabilities: { ...node(id, whole), gpuType: "" },
  remaining: { cpuCores: 2 * gpuCount, memoryBytes: 256 * gpuCount, gpuCount },
});
const placed = (fields: Parameters<typeof input>[0]): string[] =>
  cycle(input(fields)).placements.map(
    ({ allocation, nodes, shared }) => `${allocation} on ${nodes.join("+")}${shared === true ? " shared" : ""}`,
  );

describe("the sharing of nodes", () => {
  it("puts an allocation on the fullest node with capacity before a free one", () => {
    const nodes = [busy("n1", whole), busy("n2", whole), node("n3", whole)];
    const sharedNodes = [room("n1", 3), room("n2", 1)];
    const releases = [release(30, "n1", "n2")];
    expect(placed({ nodes, sharedNodes, releases, pending: [part(1, 1), part(2, 2), part(3, 2)] })).toEqual([
      "1 on n2 shared",
      "2 on n1 shared",
      "3 on n3 shared",
    ]);
  });

  it("fills a node that the same plan has opened, and leaves the other nodes whole", () => {
    const nodes = [node("n1", whole), node("n2", whole)];
    const pending = [part(1, 2), part(2, 1), part(3, 1), job(4, { constraints: { gpuCount: 4 } })];
    expect(placed({ nodes, sharedNodes: [], pending })).toEqual([
      "1 on n1 shared",
      "2 on n1 shared",
      "3 on n1 shared",
      "4 on n2",
    ]);
  });

  it("uses shared nodes where no node is free, within the tenant only", () => {
    const nodes = [busy("n1", whole)];
    const sharedNodes = [room("n1", 4, "biology")];
    const pending = [part(1, 1), part(2, 1, { tenant: "biology" })];
    expect(placed({ nodes, sharedNodes, releases: [release(30, "n1")], pending })).toEqual(["2 on n1 shared"]);
  });

  it("counts against the quota of running allocations, not of nodes", () => {
    const nodes = [busy("n1", whole)];
    const some = { nodes, sharedNodes: [room("n1", 4)], releases: [release(30, "n1")], pending: [part(1, 1)] };
    const full = tenant("physics", { nodesInUse: 1, maxNodes: 1 });
    expect(placed({ ...some, tenants: [full] })).toEqual(["1 on n1 shared"]);
    const many = tenant("physics", { running: 2, maxConcurrentAllocations: 2 });
    expect(placed({ ...some, tenants: [many] })).toEqual([]);
  });

  it("lets an allocation use a reserved node until the reservation starts", () => {
    const nodes = [busy("n1", whole)];
    const rooms = [room("n1", 4)];
    const releases = [release(30, "n1")];
    const whose = job(1, { class: 9, constraints: { gpuCount: 4 } });
    const some = { nodes, sharedNodes: rooms, releases };
    expect(placed({ ...some, pending: [whose, part(2, 1, { minutes: 10 })] })).toEqual(["2 on n1 shared"]);
    expect(placed({ ...some, pending: [whose, part(2, 1, { minutes: 60 })] })).toEqual([]);
    expect(placed({ ...some, pending: [part(2, 1, { minutes: 60 })] })).toEqual(["2 on n1 shared"]);
  });

  describe("a shared node is reserved only after its last allocation", () => {
    const promised = (fields: Partial<CycleInput>): string[] =>
      cycle(input(fields)).reservations.map(
        ({ allocation, nodes, startsAt }) =>
          `${allocation} on ${nodes.join("+")} at ${(startsAt - WALLTIME_GRACE - NOW) / MINUTE}`,
      );
    const whose = (nodes: number): PendingInput => job(9, { nodes, constraints: { gpuCount: 4 } });
    const long = part(1, 1, { class: 9, minutes: 60 });
    // A reservation of another vCluster has them look at the whole profile of releases.
    const elsewhere: CycleInput["foreignReservations"] = [{ startsAt: NOW, endsAt: null, nodes: nodeIds("n9") }];

    it.each([undefined, elsewhere])("of an earlier plan (%#)", (foreign) => {
      const nodes = [busy("n1", whole), busy("n2", whole), busy("n9", whole)];
      const releases = [release(20.5, "n1"), release(30.5, "n2")];
      const some = {
        nodes,
        releases,
        sharedNodes: [room("n1", 3)],
        ...(foreign === undefined ? null : { foreignReservations: foreign }),
      };
      expect(promised({ ...some, pending: [long, whose(1)] })).toEqual(["9 on n2 at 30"]);
      expect(promised({ ...some, pending: [long, whose(2)] })).toEqual(["9 on n1+n2 at 60"]);
      const short = part(1, 1, { class: 9, minutes: 10 });
      expect(promised({ ...some, pending: [short, whose(2)] })).toEqual(["9 on n1+n2 at 30"]);
    });

    it.each([undefined, elsewhere])("of the same plan (%#)", (foreign) => {
      const some = { nodes: [node("n1", whole), busy("n9", whole)], sharedNodes: [] };
      const pending = [part(1, 1, { class: 9, minutes: 10 }), part(2, 1, { class: 8, minutes: 60 }), whose(1)];
      const given = { ...some, pending, ...(foreign === undefined ? null : { foreignReservations: foreign }) };
      expect(placed(given)).toEqual(["1 on n1 shared", "2 on n1 shared"]);
      expect(promised(given)).toEqual(["9 on n1 at 60"]);
    });
  });
});
