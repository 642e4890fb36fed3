// The two tables of moves: those of the design, written out here once more, and the diagrams of the
// docs, printed from them.

import { readFileSync, writeFileSync } from "node:fs";
import { allocationMoves, canMove, canMoveNode, type NodeStateKind, nodeMoves, type PhaseKind } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { stateMachinesPage } from "./support/mermaid.ts";

const page = new URL("../../../docs/reference/state-machines.md", import.meta.url);

const ALLOCATION: Readonly<Record<PhaseKind, readonly PhaseKind[]>> = {
  pending: ["staging", "running", "cancelled", "failed"],
  staging: ["pending", "running", "failed", "cancelled"],
  running: ["checkpointing", "suspended", "pending", "completed", "failed", "cancelled"],
  checkpointing: ["suspended", "running", "pending", "failed", "cancelled"],
  suspended: ["pending", "cancelled", "failed"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** Besides these, any state goes down, by disabling or by a hardware report. */
const NODE: Readonly<Record<NodeStateKind, readonly NodeStateKind[]>> = {
  unknown: ["booting", "ready", "failed"],
  booting: ["ready", "failed"],
  ready: ["degraded", "draining", "down"],
  degraded: ["ready", "down", "draining"],
  draining: ["drained", "down"],
  drained: ["ready", "booting", "down"],
  down: ["ready", "drained", "booting", "failed"],
  failed: ["booting"],
};

const kinds = <K extends string>(table: Readonly<Record<K, unknown>>): readonly K[] => Object.keys(table) as K[];
const sorted = (moves: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(Object.entries(moves).map(([from, targets]) => [from, [...new Set(targets)].sort()]));

describe("state machines", () => {
  it("are drawn in the docs as in the code (UPDATE=1 writes the page)", () => {
    if (process.env.UPDATE === "1") writeFileSync(page, stateMachinesPage());
    expect(readFileSync(page, "utf8")).toBe(stateMachinesPage());
  });

  it("for allocations equal the design", () => {
    expect(sorted(allocationMoves)).toEqual(sorted(ALLOCATION));
    for (const from of kinds(ALLOCATION)) {
      for (const to of kinds(ALLOCATION)) {
        expect(canMove(from, to), `${from} > ${to}`).toBe(ALLOCATION[from].includes(to));
      }
    }
  });

  it("for nodes equal the design, and any state may move to down", () => {
    const withDown = Object.fromEntries(Object.entries(NODE).map(([from, targets]) => [from, [...targets, "down"]]));
    expect(sorted(nodeMoves)).toEqual(sorted(withDown));
    for (const from of kinds(NODE)) {
      for (const to of kinds(NODE)) {
        expect(canMoveNode(from, to), `${from} > ${to}`).toBe(to === "down" || NODE[from].includes(to));
      }
    }
  });
});
