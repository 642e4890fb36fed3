// The machine of a run: figures mean nothing without it.
import { cpus, loadavg, release, totalmem } from "node:os";

export const machine = {
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  memory_gb: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
  node: process.version,
  /** Load average at the start of the run, which shows other work on the machine. */
  load1: Number((loadavg()[0] ?? 0).toFixed(2)),
  at: new Date().toISOString().slice(0, 10),
};
