// The files of `--output` and `--error`. The node writes them while the job runs. `sbatch --wait` copies them when this
// machine does not share the directory with the nodes.

import { createWriteStream, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Allocation, LatticeClient } from "@lattice/sdk";
import { fillOutputPath } from "@lattice/wire";

export function outputPath(
  pattern: string,
  { id, spec, user = "", nodes }: Pick<Allocation, "id" | "spec"> & Partial<Pick<Allocation, "user" | "nodes">>,
  cwd: string,
): string {
  const facts = { id, name: spec?.name ?? "", user, node: nodes?.[0] ?? "", nodeIndex: 0 };
  const path = fillOutputPath(pattern, facts);
  return isAbsolute(path) ? path : join(cwd, path);
}

interface OutputPatterns {
  readonly output: string | undefined;
  readonly error: string | undefined;
  readonly cwd: string;
  /** A file changed after this time was written by the node. */
  readonly sinceMs: number;
}

/** Without `error`, standard error goes to the output file. */
export async function saveOutput(
  client: LatticeClient,
  job: Allocation,
  { output, error, cwd, sinceMs }: OutputPatterns,
): Promise<void> {
  if (output !== undefined) {
    const filter = error === undefined ? {} : { stream: "stdout" as const };
    const path = outputPath(output, job, cwd);
    if (!isThere(path, sinceMs)) await save(client, job.id, filter, path);
  }
  const path = error === undefined ? null : outputPath(error, job, cwd);
  if (path !== null && !isThere(path, sinceMs)) await save(client, job.id, { stream: "stderr" as const }, path);
}

/** Whether nothing must be copied: the node wrote the file, or the path is no regular file, such as /dev/null. */
function isThere(path: string, sinceMs: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (!found.isFile() || found.mtimeMs >= sinceMs);
}

const save = (client: LatticeClient, id: string, filter: { readonly stream?: "stdout" | "stderr" }, path: string) =>
  pipeline(Readable.from(client.logs(id, filter)), createWriteStream(path));
