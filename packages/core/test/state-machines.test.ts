// The two tables of moves are the two diagrams of the docs.

import { readFileSync, writeFileSync } from "node:fs";
import { allocationMoves, nodeMoves } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { stateMachinesPage } from "./support/mermaid.ts";

const page = new URL("../../../docs/reference/state-machines.md", import.meta.url);

describe("state machines", () => {
  it("are drawn in the docs as they are in the code (UPDATE=1 writes the page)", () => {
    if (process.env.UPDATE === "1") writeFileSync(page, stateMachinesPage());
    expect(readFileSync(page, "utf8")).toBe(stateMachinesPage());
  });
  it("are those of the design", () => {
    expect(allocationMoves.completed).toEqual([]);
    expect(allocationMoves.failed).toEqual([]);
    expect(allocationMoves.cancelled).toEqual([]);
    for (const targets of Object.values(nodeMoves)) expect(targets).toContain("down");
  });
});
