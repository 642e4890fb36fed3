// Asks the services of this node whether they live, each at its own pace, and says when one has failed
// so often in a row that its attempt is to end. A success forgives all failures before it.

import type { Logger } from "pino";
import { type After, systemAfter } from "../after.ts";
import type { Probe } from "../lifecycle/attempt.ts";
import { askProbe } from "./probe.ts";

export interface Probes {
  /** From now on; once for each attempt. */
  start(key: string, probe: Probe): void;
  stop(key: string): void;
  /** Attempts that have answered the last time they were asked. */
  well(): readonly string[];
  close(): void;
}

export interface ProbesHost {
  /** The attempt has failed its probe as often as it may. */
  failed(key: string, message: string): void;
  readonly log: Logger;
  readonly after?: After;
  /** Absent: in the network of the node. */
  readonly ask?: (probe: Probe, key: string) => Promise<string | null>;
}

export function probes({ failed, log, after = systemAfter, ask = (probe) => askProbe(probe) }: ProbesHost): Probes {
  const watched = new Map<string, { cancel: () => void; well: boolean }>();

  async function look(key: string, probe: Probe, failures: number): Promise<void> {
    const watch = watched.get(key);
    const why = await ask(probe, key);
    // Stopped, or started anew, while it was asked.
    if (watch === undefined || watched.get(key) !== watch) return;
    const count = why === null ? 0 : failures + 1;
    watch.well = why === null;
    if (why !== null) log.warn({ attempt: key, failures: count, reason: why }, "a liveness probe failed");
    if (count < probe.failureThreshold) {
      watch.cancel = after(probe.periodMs, () => void look(key, probe, count));
      return;
    }
    watched.delete(key);
    failed(key, `its liveness probe (${describe(probe)}) failed ${count} times in a row: ${why}`);
  }

  return {
    start(key, probe) {
      if (watched.has(key)) return;
      watched.set(key, { cancel: after(probe.initialDelayMs, () => void look(key, probe, 0)), well: false });
    },
    stop(key) {
      watched.get(key)?.cancel();
      watched.delete(key);
    },
    well: () => [...watched].flatMap(([key, { well }]) => (well ? [key] : [])),
    close() {
      for (const { cancel } of watched.values()) cancel();
      watched.clear();
    },
  };
}

const describe = ({ kind, port, path }: Probe): string => (kind === "tcp" ? `tcp ${port}` : `http ${port}${path}`);
