// Metrics of what a server stores: whether its state agrees with that of the other servers.

import { Gauge, type Registry } from "prom-client";

export interface StorageMetrics {
  /** The newest entry at which the state was compared with that of another server. */
  stateCompared(index: number): void;
  stateDiverged(diverged: boolean): void;
}

export function storageMetrics(registry: Registry): StorageMetrics {
  const registers = [registry];
  const diverged = new Gauge({
    name: "lattice_state_diverged",
    help: "1 on a server whose state differs from that of the other servers; it serves no calls until it is restarted.",
    registers,
  });
  const compared = new Gauge({
    name: "lattice_state_compared_index",
    help: "Newest entry of the log at which this server's state was compared with that of another server.",
    registers,
  });
  return {
    stateCompared: (index) => compared.set(index),
    stateDiverged: (is) => diverged.set(is ? 1 : 0),
  };
}
