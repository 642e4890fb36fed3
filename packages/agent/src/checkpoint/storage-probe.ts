// Probes whether checkpoints can be written: while an attempt takes checkpoints, a small file is periodically written
// to their folder and removed. Storage that hangs counts as unavailable.

import { randomBytes } from "node:crypto";
import { unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type After, within } from "../base/after.ts";

interface StorageProbe {
  /** Returns the error, or an empty text while the storage works. */
  error(): string;
  close(): void;
}

const EVERY_MS = 15_000;
/** Healthy storage takes milliseconds. */
const PATIENCE_MS = 5_000;

interface ProbeOptions {
  /** Empty when the node has no such folder. */
  readonly folder: string;
  readonly nodeId: string;
  readonly after: After;
  readonly needed: () => boolean;
  readonly everyMs?: number;
}

export function storageProbe({ folder, nodeId, after, needed, everyMs = EVERY_MS }: ProbeOptions): StorageProbe {
  let error = "";
  let writing = false;
  let cancel: () => void = () => undefined;

  async function probe(): Promise<void> {
    // The folder may be one that others write to, as /tmp is: the name cannot be guessed, and no link is followed.
    const path = join(folder, `.lattice-probe-${nodeId}-${randomBytes(8).toString("hex")}`);
    writing = true;
    const written = writeFile(path, nodeId, { flag: "wx", mode: 0o600 })
      .then(() => unlink(path))
      .then(
        () => "",
        (problem: Error) => problem.message,
      )
      .finally(() => {
        writing = false;
      });
    let answer = `${folder} did not answer within ${PATIENCE_MS / 1000} s`;
    await within(
      after,
      PATIENCE_MS,
      written.then((result) => {
        answer = result;
      }),
    );
    error = answer;
  }

  async function turn(): Promise<void> {
    if (!needed()) error = "";
    else if (!writing) await probe();
    cancel = after(everyMs, () => void turn());
  }

  if (folder !== "") cancel = after(0, () => void turn());
  return { error: () => error, close: () => cancel() };
}
