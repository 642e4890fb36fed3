// Metrics of what a server stores: whether its log is whole, whether its state agrees with that of the other servers, and
// the space on its disks.

import { Gauge, type Registry } from "prom-client";

export interface StorageMetrics {
  /** The newest entry at which the state was compared with that of another server. */
  stateCompared(index: number): void;
  stateDiverged(diverged: boolean): void;
  /** Entries that agents know and this server does not have. */
  missingEntries(entries: number): void;
  /** The disk of one of the folders that the server writes to. */
  disk(folder: string, space: { readonly freeBytes: number; readonly sizeBytes: number }): void;
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
  const missing = new Gauge({
    name: "lattice_log_missing_entries",
    help: "Entries of the log that agents know and this server does not have. Above 0, it has lost entries.",
    registers,
  });
  const labelNames = ["folder"] as const;
  const free = new Gauge({
    name: "lattice_disk_free_bytes",
    help: "Free space on the disk of a folder: log, history, audit, backup or output.",
    labelNames,
    registers,
  });
  const size = new Gauge({ name: "lattice_disk_size_bytes", help: "Size of that disk.", labelNames, registers });
  return {
    disk(folder, { freeBytes, sizeBytes }) {
      free.set({ folder }, freeBytes);
      size.set({ folder }, sizeBytes);
    },
    missingEntries: (entries) => missing.set(entries),
    stateCompared: (index) => compared.set(index),
    stateDiverged: (is) => diverged.set(is ? 1 : 0),
  };
}
