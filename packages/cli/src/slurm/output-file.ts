// Where `--output` wants a job's output. The node writes it there while the job runs; where nodes and this machine
// do not share the folder, who waits for the end gets a copy.

import { createWriteStream, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Allocation, LatticeClient } from "@lattice/sdk";
import { fillOutputPath } from "@lattice/wire";

export function outputPath(pattern: string, { id, spec, user = "", nodes }: Allocation, cwd: string): string {
  const facts = { id, name: spec?.name ?? "", user, node: nodes?.[0] ?? "", nodeIndex: 0 };
  const path = fillOutputPath(pattern, facts);
  return isAbsolute(path) ? path : join(cwd, path);
}

export interface Wanted {
  readonly output: string | undefined;
  readonly error: string | undefined;
  readonly cwd: string;
  /** A file that was changed later is the node's. */
  readonly sinceMs: number;
}

/** Without a file of its own, what went to standard error goes to the same file. */
export async function saveOutput(
  client: LatticeClient,
  job: Allocation,
  { output, error, cwd, sinceMs }: Wanted,
): Promise<void> {
  if (output !== undefined) {
    const filter = error === undefined ? {} : { stream: "stdout" as const };
    const path = outputPath(output, job, cwd);
    if (!isThere(path, sinceMs)) await save(client, job.id, filter, path);
  }
  const path = error === undefined ? null : outputPath(error, job, cwd);
  if (path !== null && !isThere(path, sinceMs)) await save(client, job.id, { stream: "stderr" as const }, path);
}

/** What is no file, such as /dev/null, needs nothing. */
function isThere(path: string, sinceMs: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (!found.isFile() || found.mtimeMs >= sinceMs);
}

const save = (client: LatticeClient, id: string, filter: { readonly stream?: "stdout" | "stderr" }, path: string) =>
  pipeline(Readable.from(client.logs(id, filter)), createWriteStream(path));
