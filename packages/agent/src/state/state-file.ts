// The state file: which attempts have processes on this node, where they are, and what they hold. An attempt is taken up
// again from its own folder; this file is for what has no folder any more, and for people who look. It is replaced whole,
// a moment after something changed, and once more when the agent stops.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Logger } from "pino";
import { type After, systemAfter } from "../after.ts";

export interface StateEntry {
  /** Allocation and attempt: "12.1". */
  readonly attempt: string;
  /** The wrapper; null: not known. */
  readonly pid: number | null;
  /** The name that the wrapper carries. */
  readonly wrapper: string;
  /** Folder of its control group; empty: it has none. */
  readonly cgroup: string;
  readonly dir: string;
  readonly runtime: "process" | "uenv" | "container";
  /** Digests of the images that are mounted for it. */
  readonly mounts: readonly string[];
  readonly container: string | null;
}

export interface NodeState {
  readonly version: 1;
  readonly node: string;
  readonly boot_id: string;
  readonly data_dir: string;
  readonly isolation: string;
  readonly attempts: readonly StateEntry[];
}

export interface StateFile {
  /** What an earlier agent has left; null: nothing, or nothing that can be read. */
  readonly before: NodeState | null;
  /** Soon, and only once for many changes. */
  changed(entries: () => Promise<readonly StateEntry[]>): void;
  /** Now, as the last thing. */
  close(): Promise<void>;
}

export interface StateFileOptions {
  readonly path: string;
  readonly of: Omit<NodeState, "version" | "attempts">;
  readonly log: Logger;
  readonly after?: After;
}

/** Many attempts may begin and end in a second. */
const WRITE_AFTER_MS = 200;

/** Throws when the file belongs to another node: that one's processes are not this agent's to judge. */
export function openStateFile({ path, of, log, after = systemAfter }: StateFileOptions): StateFile {
  const before = readState(path, log);
  if (before !== null && before.node !== of.node)
    throw new Error(`the state file ${path} is that of node ${before.node}, not of ${of.node}`);
  let latest: (() => Promise<readonly StateEntry[]>) | null = null;
  let cancel: (() => void) | null = null;
  let written: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    cancel = null;
    if (latest === null) return;
    const state: NodeState = { version: 1, ...of, attempts: await latest() };
    try {
      writeFileSync(`${path}.tmp`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
      renameSync(`${path}.tmp`, path);
    } catch (error) {
      log.error({ path, error: (error as Error).message }, "the state file cannot be written");
    }
  }

  return {
    before,
    changed(entries) {
      latest = entries;
      cancel ??= after(WRITE_AFTER_MS, () => {
        written = write();
      });
    },
    async close() {
      cancel?.();
      await written;
      await write();
    },
  };
}

function readState(path: string, log: Logger): NodeState | null {
  if (!existsSync(path)) return null;
  try {
    const state = JSON.parse(readFileSync(path, "utf8")) as Partial<NodeState>;
    if (state.version === 1 && typeof state.node === "string" && Array.isArray(state.attempts))
      return state as NodeState;
    log.warn({ path }, "the state file is not of this version; attempts are found by their folders alone");
  } catch (error) {
    log.warn({ path, error: (error as Error).message }, "the state file cannot be read; it is written anew");
  }
  return null;
}
