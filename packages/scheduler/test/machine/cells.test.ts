// Cells: nodes of one group, conformance value and kind; which of them count as drifted; sets of nodes by cell.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bitsOf, hasBit } from "../../src/base/bits.ts";
import type { NodeInput } from "../../src/index.ts";
import { countByCell, countCells, countInCell, walkCell } from "../../src/machine/cell-bits.ts";
import { type Machine, machineOf } from "../../src/machine/machine.ts";
import { someNodes } from "../arbitrary.ts";
import { input, node } from "../make.ts";

const machineWith = (nodes: readonly NodeInput[]): Machine => machineOf(input({ nodes }));

/** Returns the ids of each cell, joined. */
function cellsIn({ cells, nodes }: Machine): string[] {
  return Array.from({ length: cells.count }, (_, cell) =>
    [...cells.nodes.slice(cells.start[cell], cells.start[cell + 1])].map((at) => nodes[at]?.id).join(" "),
  );
}

describe("a cell", () => {
  it("holds nodes of one group, conformance and kind, in order of their ids", () => {
    const machine = machineWith([
      node("a", { in: "g1", conformance: "x" }),
      node("b", { in: "g2", conformance: "x" }),
      node("c", { in: "g1", conformance: "y" }),
      node("d", { in: "g1", conformance: "x", gpuCount: 4 }),
      node("e", { in: "g1", conformance: "x" }),
    ]);
    expect(cellsIn(machine)).toEqual(["a e", "b", "c", "d"]);
    expect([...machine.cells.isRun]).toEqual([0, 1, 1, 1]);
  });

  it("has no unusable nodes", () => {
    const machine = machineWith([node("a"), node("b", { usable: false, free: false }), node("c")]);
    expect(cellsIn(machine)).toEqual(["a c"]);
    expect([...machine.cells.ofNode]).toEqual([0, -1, 0]);
    expect([...machine.cells.isRun]).toEqual([0]);
    expect(machine.usableCount).toBe(2);
  });

  it("contains every usable node exactly once, with equal nodes only", () => {
    fc.assert(
      fc.property(someNodes, (nodes) => {
        const machine = machineWith(nodes);
        const { cells } = machine;
        expect([...cells.nodes].sort((a, b) => a - b)).toEqual(
          machine.nodes.flatMap(({ usable }, at) => (usable ? [at] : [])),
        );
        const keyOf = (at: number): string => {
          const { group, conformance, gpuCount, features } = machine.nodes[at] as NodeInput;
          return [group, conformance, gpuCount, features].join("|");
        };
        for (const a of cells.nodes)
          for (const b of cells.nodes) expect(cells.ofNode[a] === cells.ofNode[b]).toBe(keyOf(a) === keyOf(b));
      }),
      { numRuns: 150 },
    );
  });
});

describe("drift", () => {
  const drifted = (...values: string[]): string => {
    const machine = machineWith(values.map((conformance, i) => node(`n${i}`, { conformance })));
    return values.map((_, i) => machine.cells.drifted[machine.cells.ofNode[i] as number]).join("");
  };
  it.each([
    { name: "no fingerprint of two has a majority", values: ["x", "x", "y", "y"], expected: "0000" },
    { name: "all others drift from a majority", values: ["x", "x", "x", "y", "z"], expected: "00011" },
    { name: "exactly half is no majority", values: ["x", "x", "y", "z"], expected: "0000" },
    { name: "an unknown fingerprint always counts as drifted", values: ["", "x"], expected: "10" },
    { name: "unknown fingerprints are no majority to drift from", values: ["", "", "", "x"], expected: "1110" },
    { name: "one node has not drifted", values: ["x"], expected: "0" },
  ])("$name", ({ values, expected }) => {
    expect(drifted(...values)).toBe(expected);
  });

  it("is judged by kind of hardware", () => {
    const values = [
      node("a", { conformance: "x" }),
      node("b", { conformance: "x" }),
      node("c", { conformance: "y", gpuCount: 4 }),
    ];
    const { cells } = machineWith(values);
    expect(values.map((_, i) => cells.drifted[cells.ofNode[i] as number])).toEqual([0, 0, 0]);
  });

  it("of a majority spread over groups is found", () => {
    const values = ["g1", "g2", "g3"].map((group) => node(group, { in: group, conformance: "x" }));
    const { cells } = machineWith([...values, node("odd", { in: "g1", conformance: "y" })]);
    expect([...cells.drifted]).toEqual([0, 0, 0, 1]);
  });
});

describe("a set of nodes by cell", () => {
  it("is counted and walked like a filter of the cell", () => {
    fc.assert(
      fc.property(someNodes, fc.uniqueArray(fc.nat(8)), (nodes, picks) => {
        const machine = machineWith(nodes);
        const { cells } = machine;
        const bits = bitsOf(
          picks.filter((at) => at < nodes.length),
          nodes.length,
        );
        for (let cell = 0; cell < cells.count; cell += 1) {
          const expected = [...cells.nodes.slice(cells.start[cell], cells.start[cell + 1])].filter((at) =>
            hasBit(bits, at),
          );
          expect(countInCell(bits, cells, cell)).toBe(expected.length);
          expect(countByCell(bits, cells)[cell]).toBe(expected.length);
          const counts = new Int32Array(cells.count).fill(-1);
          expect([...countCells(bits, cells, Int32Array.of(cell), counts)]).toEqual(
            Array.from(counts, (_, other) => (other === cell ? expected.length : -1)),
          );
          for (const most of [1, 2, 9]) {
            const walked: number[] = [];
            walkCell(bits, cells, cell, (at) => walked.push(at) < most);
            expect(walked).toEqual(expected.slice(0, most));
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});
