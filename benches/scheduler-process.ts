// Runs the scheduler's measuring program in a separate process, bundled like the shipped programs.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "../tests/harness/program.ts";

/** Returns the parsed output. Throws when the program fails. */
export async function measureScheduler<T>(what: "cycles" | "estimates" | "gaps" | "why", input: unknown): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "lattice-bench-"));
  const outfile = join(folder, "measure.mjs");
  try {
    await build({
      entryPoints: [join(root, "packages", "scheduler", "test", "measure", "main.ts")],
      bundle: true,
      platform: "node",
      format: "esm",
      outfile,
    });
    return JSON.parse(await run(outfile, [what, JSON.stringify(input)])) as T;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 9 });
  }
}

function run(program: string, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(text);
      else reject(new Error(`the measuring program of the scheduler exited with status ${code}`));
    });
  });
}
