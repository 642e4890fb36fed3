// Runs a load client as a separate process, so that its work does not count as the server's. It prints one JSON object
// at the end.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "../tests/harness/program.ts";

export interface LoadResult {
  readonly answers: number;
  readonly failures: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** CPU time of the client itself. */
  readonly cpuSeconds: number;
}

export function runClient(name: string, settings: Readonly<Record<string, unknown>>): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const script = join(root, "benches", "clients", `${name}.ts`);
    const child = spawn(process.execPath, ["--import", "tsx", script, JSON.stringify(settings)], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(JSON.parse(text) as LoadResult);
      else reject(new Error(`the load client ${name} exited with status ${code}`));
    });
  });
}
