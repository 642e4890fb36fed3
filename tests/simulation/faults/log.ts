// What goes wrong with the log that servers share, its snapshots, and the history that each keeps beside it.

import type { Fault } from "./faults.ts";

const MINUTE = 60_000;
/** What lies in wait for a write that does not come is taken away again. */
const LIES_MS = 30_000;

export const logFaults: readonly Fault[] = [
  {
    kind: "lossy_log",
    everyMs: 4 * MINUTE,
    strike({ world, weather }, random) {
      if (weather.lossBefore > 0) return false;
      weather.lossBefore = 0.2;
      weather.lossAfter = 0.1;
      world.after(random.between(1_000, 8_000), () => {
        weather.lossBefore = 0;
        weather.lossAfter = 0;
      });
      return true;
    },
  },
  {
    kind: "slow_log",
    everyMs: 6 * MINUTE,
    strike({ world, weather }, random) {
      weather.slowMs = random.between(50, 1_500);
      world.after(random.between(2_000, 20_000), () => {
        weather.slowMs = 0;
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
      // The last good one is what disaster recovery is for.
      if (newest === undefined || good.length < 2) return false;
      newest.corrupt = true;
      return true;
    },
  },
  {
    kind: "append_stale",
    everyMs: 2.5 * MINUTE,
    lies: true,
    strike({ world, weather, store }) {
      if (store.election.leader() === null) return false;
      weather.stale = true;
      world.after(LIES_MS, () => {
        weather.stale = false;
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
      server.shelf.tear = {
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
