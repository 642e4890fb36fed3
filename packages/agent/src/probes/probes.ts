// Runs the liveness probes of this node, each at its own interval, and reports an attempt whose probe has failed too
// often in a row. A success resets the count.

import type { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { type After, systemAfter } from "../base/after.ts";
import { askProbe } from "./probe.ts";

export interface Probes {
  /** Starts the probe of an attempt; repeatable. */
  start(key: string, probe: pb.LivenessProbe): void;
  stop(key: string): void;
  /** Returns the attempts whose last probe succeeded. */
  well(): readonly string[];
  close(): void;
}

interface ProbesHost {
  /** The probe reached its failure limit. */
  failed(key: string, message: string): void;
  readonly log: Logger;
  readonly after?: After;
  /** Default: over the node's network. */
  readonly ask?: (probe: pb.LivenessProbe, key: string) => Promise<string | null>;
}

export function probes({ failed, log, after = systemAfter, ask = (probe) => askProbe(probe) }: ProbesHost): Probes {
  const watched = new Map<string, { cancel: () => void; well: boolean }>();

  async function look(key: string, probe: pb.LivenessProbe, failures: number): Promise<void> {
    const watch = watched.get(key);
    const why = await ask(probe, key);
    // Stopped or restarted during the probe.
    if (watch === undefined || watched.get(key) !== watch) return;
    const count = why === null ? 0 : failures + 1;
    watch.well = why === null;
    if (why !== null) log.warn({ attempt: key, failures: count, reason: why }, "a liveness probe failed");
    if (count < probe.failureThreshold) {
      watch.cancel = after(probe.periodSecs * 1000, () => void look(key, probe, count));
      return;
    }
    watched.delete(key);
    failed(key, `its liveness probe (${describe(probe)}) failed ${count} times in a row: ${why}`);
  }

  return {
    start(key, probe) {
      if (watched.has(key)) return;
      watched.set(key, { cancel: after(probe.initialDelaySecs * 1000, () => void look(key, probe, 0)), well: false });
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

const describe = ({ probeType, port, path }: pb.LivenessProbe): string =>
  probeType === "http" ? `http ${port}${path}` : `tcp ${port}`;
