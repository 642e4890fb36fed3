// Faults of a server's disk, which it shares with its etcd member: slow, and full to the last block.
import type { Fault } from "./fault.ts";
import { noComplaints } from "./fault.ts";

const slowDisk: Fault = {
  name: "slow-disk",
  expectation: "the cluster continues at the pace of the other two disks",
  async inject({ cluster }) {
    const struck = cluster.server(await cluster.leader());
    const how = await struck.disk.slow([struck.pid, struck.memberPid()].filter((pid) => pid > 0));
    return {
      what: `server ${struck.n}: ${how}`,
      holdMs: 10_000,
      heal: () => struck.disk.fast(),
      verify: noComplaints,
    };
  },
};

const fullDisk: Fault = {
  name: "full-disk",
  expectation: "the other two continue; with free space the server and its member recover",
  async inject({ cluster }) {
    const struck = cluster.server(await cluster.leader());
    await struck.disk.fill();
    return {
      what: `server ${struck.n}`,
      holdMs: 10_000,
      async heal() {
        await struck.disk.empty();
        // A server that exited is started again, as a service manager would.
        if (!struck.isRunning()) struck.start();
      },
      verify: noComplaints,
    };
  },
};

export const diskFaults: readonly Fault[] = [slowDisk, fullDisk];
