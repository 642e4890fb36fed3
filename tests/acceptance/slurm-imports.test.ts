// Commands that scripts call in loops load only their own code: checks what the built program imports at start.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../harness/program.ts";

const dist = join(root, "packages/cli/dist");
const chunkOf = (command: string, program = "lattice-slurm"): string =>
  readdirSync(dist).find((name) => new RegExp(`^${program}-${command}-[A-Z0-9]+\\.js$`).test(name)) ?? "";

/** Bundles loaded for a command, including static imports. */
function loadedFor(command: string, program = "lattice-slurm"): ReadonlyMap<string, string> {
  const seen = new Map<string, string>();
  const follow = (name: string): void => {
    if (seen.has(name)) return;
    const text = readFileSync(join(dist, name), "utf8");
    seen.set(name, text);
    for (const [, other = ""] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) follow(other);
  };
  follow(`${program}.js`);
  follow(chunkOf(command, program));
  return seen;
}

/** Half of it is the client. */
const MAX_BYTES = 110_000;

test.each(["squeue", "sinfo", "scancel"])("%s", (command) => {
  const loaded = loadedFor(command);
  const others = ["sbatch", "srun", "sacct", "scontrol", "salloc"].map((other) => chunkOf(other));
  expect(others.filter((name) => name === "" || loaded.has(name))).toEqual([]);
  const text = [...loaded.values()].join("\n");
  expect(text).not.toMatch(/BlockScalar|CommanderError|openid/);
  expect(text.length).toBeLessThan(MAX_BYTES);
});

/** Including the parser of the command line and its errors. */
const MAX_BYTES_HERE = 155_000;

test.each(["status", "nodes", "logs"])("lattice %s", (command) => {
  const loaded = loadedFor(command, "lattice");
  const others = ["submit", "admin", "up", "login", "completion"].map((other) => chunkOf(other, "lattice"));
  expect(others.filter((name) => name === "" || loaded.has(name))).toEqual([]);
  const text = [...loaded.values()].join("\n");
  expect(text).not.toMatch(/BlockScalar|openid/);
  expect(text.length).toBeLessThan(MAX_BYTES_HERE);
});
