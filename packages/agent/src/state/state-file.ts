// The state file: which attempts have processes on this node, and what they hold. An attempt is recovered from its own
// folder; this file covers attempts whose folder is gone, and informs operators. It is replaced whole, shortly after a
// change and when the agent stops.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Logger } from "pino";
import { type After, systemAfter } from "../base/after.ts";
import type { StateEntry } from "../runtime/base/runtime.ts";

export interface AgentState {
  readonly version: 1;
  readonly node: string;
  readonly boot_id: string;
  readonly data_dir: string;
  readonly isolation: string;
  readonly attempts: readonly StateEntry[];
}

export interface StateFile {
  /** The state of an earlier agent; `null` when there is none or it is unreadable. */
  readonly before: AgentState | null;
  /** Writes soon, once for many changes. */
  changed(entries: () => Promise<readonly StateEntry[]>): void;
  /** Writes now, at the end. */
  close(): Promise<void>;
}

interface StateFileOptions {
  readonly path: string;
  readonly of: Omit<AgentState, "version" | "attempts">;
  readonly log: Logger;
  readonly after?: After;
}

/** Many attempts may start and end within a second. */
const WRITE_AFTER_MS = 200;

/** Throws when the file belongs to another node, whose processes this agent must not touch. */
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
    const state: AgentState = { version: 1, ...of, attempts: await latest() };
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

function readState(path: string, log: Logger): AgentState | null {
  if (!existsSync(path)) return null;
  try {
    const state = JSON.parse(readFileSync(path, "utf8")) as Partial<AgentState>;
    if (state.version === 1 && typeof state.node === "string" && Array.isArray(state.attempts))
      return state as AgentState;
    log.warn({ path }, "the state file has another version; attempts are recovered from their folders");
  } catch (error) {
    log.warn({ path, error: (error as Error).message }, "the state file cannot be read; it is replaced");
  }
  return null;
}
