// Faults of the shared log, its snapshots, and the history of each server.

import type { Fault } from "./faults.ts";

const MINUTE = 60_000;
/** An armed fault that no write has met is disarmed after this. */
const LIES_MS = 30_000;

export const logFaults: readonly Fault[] = [
  {
    kind: "lossy_log",
    everyMs: 4 * MINUTE,
    strike({ world, logFaultRates }, random) {
      if (logFaultRates.lossBefore > 0) return false;
      logFaultRates.lossBefore = 0.2;
      logFaultRates.lossAfter = 0.1;
      world.after(random.between(1_000, 8_000), () => {
        logFaultRates.lossBefore = 0;
        logFaultRates.lossAfter = 0;
      });
      return true;
    },
  },
  {
    kind: "slow_log",
    everyMs: 6 * MINUTE,
    strike({ world, logFaultRates }, random) {
      logFaultRates.slowMs = random.between(50, 1_500);
      world.after(random.between(2_000, 20_000), () => {
        logFaultRates.slowMs = 0;
      });
      return true;
    },
  },
  {
    kind: "snapshot_corrupt",
    everyMs: 8 * MINUTE,
    strike({ store }) {
      const good = store.snapshots.filter((snapshot) => !snapshot.corrupt);
      const newest = good.at(-1);
      // The last good snapshot stays intact; losing it is a case for disaster recovery.
      if (newest === undefined || good.length < 2) return false;
      newest.corrupt = true;
      return true;
    },
  },
  {
    kind: "append_stale",
    everyMs: 2.5 * MINUTE,
    lies: true,
    strike({ world, logFaultRates, store }) {
      if (store.election.leader() === null) return false;
      logFaultRates.stale = true;
      world.after(LIES_MS, () => {
        logFaultRates.stale = false;
      });
      return true;
    },
  },
  {
    kind: "history_torn",
    everyMs: 5 * MINUTE,
    lies: true,
    strike({ world, servers }, random) {
      const server = random.pick(servers);
      server.historyDisk.tear = {
        share: random.next(),
        die() {
          server.crash();
          world.after(random.between(500, 10_000), server.start);
        },
      };
      return true;
    },
  },
];
