// Pages of the documentation as something to run: every block opened with `sh run`, each in a shell of its
// own that finds the built programs. A line `# => text` in a block states what the output must contain.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { expect } from "vitest";
import { cleanEnvironment, programPath, root } from "./program.ts";

export interface ShellPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What a block leaves running may hold its output open; what the shell itself has printed is read by then. */
const LEFT_OPEN_MS = 100;

/** Blocks within lists are indented. */
export const blocksOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^( *)```sh run\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent, text = ""]) => text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );

/** Runs a block; it must end well and print what it says it does. */
export async function follow(block: string, place: ShellPlace): Promise<void> {
  const shell = startShell(block, place);
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const code = await new Promise((resolve) => {
    shell.once("close", resolve);
    shell.once("exit", (ended) => setTimeout(() => resolve(ended), LEFT_OPEN_MS));
  });
  expect(code, `${block}\n---- printed:\n${output}`).toBe(0);
  for (const [, text = ""] of block.matchAll(/^# => (.*)$/gm)) expect(output, block).toContain(text.trim());
}

export function startShell(text: string, place: ShellPlace): ChildProcessByStdio<null, Readable, Readable> {
  const path = `${dirname(programPath("lattice"))}:${process.env.PATH ?? ""}`;
  return spawn("bash", ["-euo", "pipefail", "-c", text], {
    cwd: place.cwd,
    env: cleanEnvironment({ ...place.env, PATH: path }),
    stdio: ["ignore", "pipe", "pipe"],
  });
}
