// Runs one shell line to its end and returns output and exit status.
import { spawn } from "node:child_process";
import type { CliResult } from "./cli.ts";
import { cleanEnvironment } from "./program.ts";

export function runShell(line: string, cwd: string, env: Parameters<typeof cleanEnvironment>[0]): Promise<CliResult> {
  return new Promise((resolve) => {
    const shell = spawn("bash", ["-c", line], { cwd, env: cleanEnvironment(env), stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    shell.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    shell.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    shell.once("close", (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}
