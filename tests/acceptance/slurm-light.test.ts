// A Slurm command starts with its own code alone, since scripts call squeue in loops: what the built
// program loads before it can do anything.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../harness/program.ts";

const dist = join(root, "packages/cli/dist");
const chunkOf = (command: string): string =>
  readdirSync(dist).find((name) => new RegExp(`^lattice-slurm-${command}-[A-Z0-9]+\\.js$`).test(name)) ?? "";

/** Bundles loaded for a command, with all that they import at once. */
function loadedFor(command: string): ReadonlyMap<string, string> {
  const seen = new Map<string, string>();
  const follow = (name: string): void => {
    if (seen.has(name)) return;
    const text = readFileSync(join(dist, name), "utf8");
    seen.set(name, text);
    for (const [, other = ""] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) follow(other);
  };
  follow("lattice-slurm.js");
  follow(chunkOf(command));
  return seen;
}

/** Half of it is the client. */
const MOST_BYTES = 110_000;

test.each(["squeue", "sinfo", "scancel"])("%s", (command) => {
  const loaded = loadedFor(command);
  const others = ["sbatch", "srun", "sacct", "scontrol", "salloc"].map(chunkOf);
  expect(others.filter((name) => name === "" || loaded.has(name))).toEqual([]);
  const text = [...loaded.values()].join("\n");
  expect(text).not.toMatch(/BlockScalar|CommanderError|openid/);
  expect(text.length).toBeLessThan(MOST_BYTES);
});
