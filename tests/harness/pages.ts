// Runs documentation pages: every block opened with `sh run`, each in its own shell with the built programs on the PATH.
// A line `# => text` states what the output must contain.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { expect } from "vitest";
import { cleanEnvironment, programPath, root } from "./program.ts";

export interface ShellContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Background processes of a block may keep the output open; the shell's own output is complete by then. */
const LEFT_OPEN_MS = 100;

/** Finds blocks, also indented ones in lists. */
export const blocksOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^( *)```sh run\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent, text = ""]) => text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );

/** Runs a block. It must succeed and print its `# =>` texts. */
export async function runBlock(block: string, place: ShellContext): Promise<void> {
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

export function startShell(text: string, place: ShellContext): ChildProcessByStdio<null, Readable, Readable> {
  const path = `${dirname(programPath("lattice"))}:${process.env.PATH ?? ""}`;
  return spawn("bash", ["-euo", "pipefail", "-c", text], {
    cwd: place.cwd,
    env: cleanEnvironment({ ...place.env, PATH: path }),
    stdio: ["ignore", "pipe", "pipe"],
  });
}
