// Where `--output` wants a job's output, and writing it there. Lattice keeps the output itself; the file
// is a copy that is made here when the job has ended, so only who waits for the end gets it.

import { createWriteStream } from "node:fs";
import { isAbsolute, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Allocation, LatticeClient } from "@lattice/sdk";

/** %j %A %a %x %u %N %%; %4j fills with zeros. */
export function outputPath(pattern: string, { id, spec, user, nodes }: Allocation, cwd: string): string {
  const [base = id, index = "4294967294"] = id.split("_");
  const values: Readonly<Record<string, string>> = {
    "%": "%",
    A: base,
    J: id,
    N: nodes?.[0] ?? "",
    a: index,
    j: id,
    n: "0",
    t: "0",
    s: "batch",
    u: user ?? "",
    x: spec?.name ?? "",
  };
  const name = pattern.replaceAll(/%(\d{0,2})([%AJNajnstux])/g, (_, width: string, letter: string) =>
    (values[letter] ?? "").padStart(Number(width), "0"),
  );
  return isAbsolute(name) ? name : join(cwd, name);
}

export interface Wanted {
  readonly output: string | undefined;
  readonly error: string | undefined;
  readonly cwd: string;
}

/** Without a file of its own, what went to standard error goes to the same file. */
export async function saveOutput(
  client: LatticeClient,
  job: Allocation,
  { output, error, cwd }: Wanted,
): Promise<void> {
  if (output !== undefined) {
    const filter = error === undefined ? {} : { stream: "stdout" as const };
    await save(client, job.id, filter, outputPath(output, job, cwd));
  }
  if (error !== undefined) await save(client, job.id, { stream: "stderr" as const }, outputPath(error, job, cwd));
}

const save = (client: LatticeClient, id: string, filter: { readonly stream?: "stdout" | "stderr" }, path: string) =>
  pipeline(Readable.from(client.logs(id, filter)), createWriteStream(path));
