// Runs a program to its end and returns every byte of its output, for programs whose output must be identical.
import { spawn } from "node:child_process";
import { cleanEnvironment } from "./program.ts";

export interface ProgramResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Calls `onOutput` at the first bytes of output. */
export function runProgram(
  [program = "", ...words]: readonly string[],
  env: Readonly<Record<string, string>>,
  onOutput: () => void = () => {},
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], env: cleanEnvironment(env) });
    const output = { out: "", err: "" };
    child.stdout.once("data", onOutput);
    child.stdout.on("data", (bytes: Buffer) => (output.out += bytes.toString("latin1")));
    child.stderr.on("data", (bytes: Buffer) => (output.err += bytes.toString("latin1")));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...output }));
  });
}
