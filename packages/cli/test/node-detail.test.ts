// The details of a node: its runtimes, and whether GPU memory is cleared between users.

import type { Capabilities, Node } from "@lattice/sdk";
import { expect, test } from "vitest";
import { showNode } from "../src/commands/nodes/detail.ts";
import { createPaint } from "../src/output/paint.ts";
import type { Printer } from "../src/output/printer.ts";

function shown(capabilities: Partial<Capabilities>): ReadonlyMap<string, string> {
  const lines: string[] = [];
  const print = { line: (text: string) => lines.push(text), paint: createPaint(false) } as unknown as Printer;
  showNode(print, { id: "n1", state: "ready", group: "g", capabilities } as Node);
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
}

const GPUS = { runtimes: [] as readonly string[], gpu_count: 4, gpu_type: "H100" };

test.each<readonly [string, Partial<Capabilities>, string | undefined]>([
  ["one that clears them", { ...GPUS, runtimes: ["bare", "gpu-clear:nvidia"] }, "cleared between users (nvidia)"],
  ["one that cannot", { ...GPUS, runtimes: ["bare"] }, "not cleared between users"],
  ["one whose agent says nothing of it", GPUS, "not cleared between users"],
  ["one without GPUs", { gpu_count: 0, runtimes: ["bare", "gpu-clear:nvidia"] }, undefined],
  ["a simulated one", { ...GPUS, hollow: true }, undefined],
])("GPU memory of %s", (_name, capabilities, text) => {
  expect(shown(capabilities).get("GPU memory")).toBe(text);
});

test("runtimes are listed", () => {
  expect(shown({ runtimes: ["bare", "uenv"] }).get("Runtimes")).toBe("bare, uenv");
});
