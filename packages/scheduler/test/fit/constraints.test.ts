// Which requests match the same nodes, and which are the same request.

import { CONSTRAINT_NAMES, type Constraints, NO_CONSTRAINTS } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { isSameRequest, matchKey } from "../../src/fit/constraints.ts";
import type { PendingInput } from "../../src/index.ts";
import { job, nodeIds } from "../make.ts";

/** A value of each constraint that differs from none, and whether it decides which nodes match. */
const VALUES: { readonly [Name in keyof Required<Constraints>]: { value: Constraints[Name]; matches: boolean } } = {
  gpuType: { value: "H100", matches: true },
  gpuCount: { value: 2, matches: true },
  memoryBytes: { value: 512, matches: true },
  cpuCores: { value: 4, matches: true },
  features: { value: ["nvme"], matches: true },
  requiredNodes: { value: nodeIds("a"), matches: true },
  excludedNodes: { value: nodeIds("a"), matches: true },
  requireUnifiedMemory: { value: true, matches: true },
  allowCxlMemory: { value: true, matches: true },
  topology: { value: "tight", matches: false },
  requireConformance: { value: true, matches: false },
  preferSameNuma: { value: true, matches: false },
  maxGroups: { value: 2, matches: false },
  storageMBps: { value: 10, matches: false },
  memoryPolicy: { value: "interleave" as Constraints["memoryPolicy"], matches: false },
};

const withField = (name: keyof Constraints): Constraints => ({ ...NO_CONSTRAINTS, [name]: VALUES[name].value });
const asking = (constraints: Constraints): PendingInput => ({ ...job(1), constraints });

describe("the key of a match", () => {
  it.each(CONSTRAINT_NAMES.map((name) => [name, VALUES[name].matches] as const))(
    "depends on %s: %s",
    (name, expected) => {
      expect(matchKey(withField(name)) !== matchKey(NO_CONSTRAINTS)).toBe(expected);
    },
  );

  it.each<[string, Partial<Constraints>, Partial<Constraints>]>([
    ["features from one with a comma", { features: ["a", "b"] }, { features: ["a,b"] }],
    ["features from one with the separator", { features: ["a", "b"] }, { features: ['a"|"b'] }],
    ["a feature from an excluded node", { features: ["a"] }, { excludedNodes: nodeIds("a") }],
    ["required from excluded nodes", { requiredNodes: nodeIds("a") }, { excludedNodes: nodeIds("a") }],
    ["memory from cores", { memoryBytes: 4 }, { cpuCores: 4 }],
  ])("tells %s", (_, a, b) => {
    expect(matchKey({ ...NO_CONSTRAINTS, ...a })).not.toBe(matchKey({ ...NO_CONSTRAINTS, ...b }));
  });

  it("is the same for an absent value and for false", () => {
    expect(matchKey({ ...NO_CONSTRAINTS, allowCxlMemory: false })).toBe(matchKey(NO_CONSTRAINTS));
  });
});

describe("the same request", () => {
  const compared = CONSTRAINT_NAMES.filter((name) => !VALUES[name].matches);
  it.each(compared.map((name) => [name, name === "memoryPolicy"] as const))(
    "differs in %s: still the same: %s",
    (name, expected) => {
      expect(isSameRequest(asking(NO_CONSTRAINTS), asking(withField(name)))).toBe(expected);
      expect(isSameRequest(asking(withField(name)), asking(NO_CONSTRAINTS))).toBe(expected);
      expect(isSameRequest(asking(withField(name)), asking(withField(name)))).toBe(true);
    },
  );

  it("treats an absent value like 0 and false", () => {
    const off = { ...NO_CONSTRAINTS, requireConformance: false, storageMBps: 0 };
    expect(isSameRequest(asking(NO_CONSTRAINTS), asking(off))).toBe(true);
  });

  it("is never a request that shares nodes, not even an equal one", () => {
    const sharing: PendingInput = { ...job(1), canShareNode: true };
    expect(isSameRequest(sharing, sharing)).toBe(false);
    expect(isSameRequest(job(1), sharing)).toBe(false);
    expect(isSameRequest(sharing, job(1))).toBe(false);
  });
});
