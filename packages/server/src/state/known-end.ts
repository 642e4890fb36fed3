// The last entry that this server has applied, in a file of its data folder outside of the log. A log that ends earlier is
// an older copy, or lost entries that were acknowledged: a server neither serves nor leads it. The file is written every
// few seconds and only ever names an entry that was durable, so an old or missing file refuses nothing.

import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { duration, type KnownIdentity, type LogIndex, type View } from "@lattice/core";
import type { Clock } from "../base/clock.ts";
import { LogError } from "../log/contract/replicated-log.ts";
import type { Replica } from "./replica/replica.ts";

const FILE = "log-end.json";
const WRITE_INTERVAL = duration(2_000);

/** Positions of another generation of the log mean nothing. */
type End = KnownIdentity & { readonly index: number };

interface KnownEnd {
  /** The stored one, or the last applied entry if that is later. */
  index(): number;
  /** Throws `log_lost` when the log ends before it. Waits until the identity of a shorter log is known. */
  refuseShorter(end: LogIndex): Promise<void>;
  close(): Promise<void>;
}

interface Parts {
  readonly dataDir: string;
  readonly replica: Pick<Replica, "head" | "onApplied" | "waitFor" | "failed"> & {
    readonly view: Pick<View, "identity">;
  };
  readonly clock: Clock;
}

export function openKnownEnd({ dataDir, replica, clock }: Parts): KnownEnd {
  const path = join(dataDir, FILE);
  const stored = readEnd(path);
  const stop = new AbortController();
  let written = stored?.index ?? 0;
  let writing: Promise<void> = Promise.resolve();
  let cancel: (() => void) | null = null;

  const write = async (): Promise<void> => {
    const { identity } = replica.view;
    const { index } = replica.head();
    if (identity === null || index === written) return;
    const end: End = { id: identity.id, generation: identity.generation, index };
    await writeFile(`${path}.tmp`, `${JSON.stringify(end)}\n`, { mode: 0o600 });
    await rename(`${path}.tmp`, path);
    written = index;
  };
  // On a full disk the older file stays, which is true as well.
  const save = (): void => {
    cancel = null;
    writing = writing.then(write).catch(() => undefined);
  };
  const unsubscribe = replica.onApplied(() => {
    cancel ??= clock.after(WRITE_INTERVAL, save);
  });
  const known = (): number => {
    const { identity } = replica.view;
    const applied = replica.head().index;
    const isSame = stored !== null && identity?.id === stored.id && identity.generation === stored.generation;
    return isSame ? Math.max(stored.index, applied) : applied;
  };

  return {
    index: known,
    async refuseShorter(end) {
      if (stored !== null && end < stored.index)
        await Promise.race([replica.waitFor(end, stop.signal), replica.failed]);
      if (end < known()) throw lost(end, known(), path);
    },
    async close() {
      unsubscribe();
      stop.abort(new LogError("closed", "the server stops"));
      cancel?.();
      save();
      await writing;
    },
  };
}

const lost = (end: number, known: number, path: string): LogError =>
  new LogError(
    "log_lost",
    `the log ends at entry ${end}, but this server has applied entry ${known}: the log is an older copy, or has lost ` +
      "acknowledged entries. Put the newer copy back, or start once with --join ADDRESS --replace if other servers have " +
      `the log, or restore a backup with --bootstrap --recover-from; to accept the loss, delete ${path}`,
  );

/** `null` for a file that is missing or damaged: it only ever adds a refusal. */
function readEnd(path: string): End | null {
  try {
    const { id, generation, index } = JSON.parse(readFileSync(path, "utf8")) as Partial<End>;
    const isComplete = typeof id === "string" && Number.isSafeInteger(generation) && Number.isSafeInteger(index);
    return isComplete ? ({ id, generation, index } as End) : null;
  } catch {
    return null;
  }
}
