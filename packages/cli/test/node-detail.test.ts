// One node in full: what it offers, and whether what users leave in its GPUs is cleared.

import type { Capabilities, Node } from "@lattice/sdk";
import { expect, test } from "vitest";
import { showNode } from "../src/commands/nodes/detail.ts";
import { createPaint } from "../src/output/paint.ts";
import type { Printer } from "../src/output/printer.ts";

function shown(capabilities: Capabilities): ReadonlyMap<string, string> {
  const lines: string[] = [];
  const print = { line: (text: string) => lines.push(text), paint: createPaint(false) } as unknown as Printer;
  showNode(print, { id: "n1", state: "ready", group: "g", capabilities } as Node);
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
}

const GPUS: Capabilities = { gpu_count: 4, gpu_type: "H100" };

test.each<readonly [string, Capabilities, string | undefined]>([
  ["one that clears them", { ...GPUS, runtimes: ["bare", "gpu-clear:nvidia"] }, "cleared between users (nvidia)"],
  ["one that cannot", { ...GPUS, runtimes: ["bare"] }, "not cleared between users"],
  ["one whose agent says nothing of it", GPUS, "not cleared between users"],
  ["one without GPUs", { runtimes: ["bare", "gpu-clear:nvidia"] }, undefined],
  ["a simulated one", { ...GPUS, hollow: true }, undefined],
])("the memory of GPUs of %s", (_name, capabilities, text) => {
  expect(shown(capabilities).get("GPU memory")).toBe(text);
});

test("what it offers", () => {
  expect(shown({ runtimes: ["bare", "uenv"] }).get("Offers")).toBe("bare, uenv");
});
