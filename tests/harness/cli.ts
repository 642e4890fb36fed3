// Runs the built `lattice` program as a user does.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { cleanEnvironment, programPath } from "./program.ts";

export interface CliOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function spawnCli(
  args: readonly string[],
  options: CliOptions = {},
): ChildProcessByStdio<Writable, Readable, Readable> {
  return spawn(programPath("lattice"), args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: cleanEnvironment(options.env ?? {}),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
}

export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawnCli(args, options);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.once("error", reject);
    child.once("close", (code) =>
      resolve({ code: code ?? -1, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
    // A program may end before it has read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
  });
}
