// A runtime whose attempts are recorded in the state file: added when they start or are recovered, removed when
// nothing of them is left on the node.

import type { Logger } from "pino";
import type { UserFiles } from "../files/user-files.ts";
import type { Runtime, StateEntry } from "../runtime/base/runtime.ts";
import type { StateFile } from "./state-file.ts";
import { endStray } from "./strays.ts";

interface StateOptions {
  readonly file: StateFile;
  readonly strays: readonly StateEntry[];
  readonly files: Pick<UserFiles, "environ">;
  readonly log: Logger;
}

export function withStateFile(runtime: Runtime, { file, strays, files, log }: StateOptions): Runtime {
  const noted = new Set<string>();
  const closing = new AbortController();

  const entries = async (): Promise<readonly StateEntry[]> => {
    const all = await Promise.all([...noted].map(async (key) => (await runtime.describe?.(key)) ?? null));
    return all.filter((entry) => entry !== null);
  };
  const note = (key: string): void => {
    noted.add(key);
    file.changed(entries);
  };
  const strike = (key: string): void => {
    if (noted.delete(key)) file.changed(entries);
  };

  return {
    ...runtime,
    async recover() {
      const found = await runtime.recover();
      for (const [key, { end }] of found) if (end === null) note(key);
      file.changed(entries);
      return found;
    },
    async sweep(known) {
      for (const stray of strays) await endStray(stray, { files, log, signal: closing.signal });
      await runtime.sweep(known);
    },
    async start(key, received) {
      const result = await runtime.start(key, received);
      if (result.kind === "started") note(key);
      return result;
    },
    async clear(key) {
      await runtime.clear(key);
      if (!closing.signal.aborted) strike(key);
    },
    async discard(key) {
      await runtime.discard(key);
      strike(key);
    },
    async close() {
      closing.abort();
      await file.close();
      await runtime.close();
    },
  };
}
