// Faults of a server's disk, which it shares with its member of etcd: slow, and full to the last block.
import type { Fault } from "./fault.ts";
import { noComplaints } from "./fault.ts";

const slowDisk: Fault = {
  name: "slow-disk",
  expectation: "the cluster goes on at the pace of the other two disks",
  async inject({ stage }) {
    const struck = stage.server(await stage.leader());
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
  expectation: "the other two go on; with space again the server and its member are whole",
  async inject({ stage }) {
    const struck = stage.server(await stage.leader());
    await struck.disk.fill();
    return {
      what: `server ${struck.n}`,
      holdMs: 10_000,
      async heal() {
        await struck.disk.empty();
        // A server that gave up is started again by whatever looks after programs on a machine.
        if (!struck.isRunning()) struck.start();
      },
      verify: noComplaints,
    };
  },
};

export const diskFaults: readonly Fault[] = [slowDisk, fullDisk];
