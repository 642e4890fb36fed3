// The last entry that this server has applied, with its hash, in a file of its data folder outside of the log. A log that
// ends earlier, or holds another entry there, is an older copy or has lost entries that were acknowledged: a server neither
// serves nor leads it. The file is written every few seconds and only ever names an entry that was durable, so an old or
// missing file refuses nothing.

import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  compareLogs,
  duration,
  type KnownIdentity,
  type LogIndex,
  type LogPosition,
  logIndex,
  type View,
} from "@lattice/core";
import type { Clock } from "../base/clock.ts";
import { LogError } from "../log/contract/replicated-log.ts";
import type { Replica } from "./replica/replica.ts";

const FILE = "log-end.json";
const WRITE_INTERVAL = duration(2_000);

/** Positions of another generation of the log mean nothing. */
type End = KnownIdentity & LogPosition;

interface KnownEnd {
  /** The stored one, or the last applied entry if that is later. */
  index(): number;
  /**
   * Throws `log_lost` when the log ends before it, or holds another entry there. Waits until the identity of a shorter log is
   * known, and until the entry is applied.
   */
  refuseShorter(end: LogIndex): Promise<void>;
  close(): Promise<void>;
}

interface Parts {
  readonly dataDir: string;
  readonly replica: Pick<Replica, "head" | "chain" | "onApplied" | "waitFor" | "failed"> & {
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
    const end: End = { id: identity.id, generation: identity.generation, ...replica.chain.last() };
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
  /** Null when the log is of another generation. */
  const own = (): End | null => {
    const { identity } = replica.view;
    return stored !== null && identity?.id === stored.id && identity.generation === stored.generation ? stored : null;
  };
  const applied = (index: LogIndex): Promise<void> =>
    Promise.race([replica.waitFor(index, stop.signal), replica.failed]);
  const known = (): number => Math.max(own()?.index ?? 0, replica.head().index);

  return {
    index: known,
    async refuseShorter(end) {
      const isShorter = stored !== null && end < stored.index;
      if (isShorter) await applied(end);
      if (end < known()) throw lost(`ends at entry ${end}, but this server has applied entry ${known()}`, path);
      // An empty log, or one of another generation, does not have the stored entry.
      if (stored === null || isShorter) return;
      // Others may append meanwhile: the entries applied from here on may be later than `end`.
      await applied(logIndex(stored.index));
      const before = own();
      if (before !== null && compareLogs(before, replica.chain.at(before.index)) === "different")
        throw lost(`holds another entry ${before.index} than this server has applied`, path);
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

const lost = (how: string, path: string): LogError =>
  new LogError(
    "log_lost",
    `the log ${how}: the log is an older copy, or has lost ` +
      "acknowledged entries. Put the newer copy back, or start once with --join ADDRESS --replace if other servers have " +
      `the log, or restore a backup with --bootstrap --recover-from; to accept the loss, delete ${path}`,
  );

/** `null` for a file that is missing or damaged: it only ever adds a refusal. */
function readEnd(path: string): End | null {
  try {
    const { id, generation, index, hash, termHash } = JSON.parse(readFileSync(path, "utf8")) as Partial<End>;
    const isComplete = typeof id === "string" && Number.isSafeInteger(generation) && Number.isSafeInteger(index);
    return isComplete && typeof hash === "string" && typeof termHash === "string"
      ? ({ id, generation, index, hash, termHash } as End)
      : null;
  } catch {
    return null;
  }
}
