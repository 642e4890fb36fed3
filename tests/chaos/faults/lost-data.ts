// The loss of a member's data while its server runs. Without its data, etcd would create a cluster of its own.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { kill } from "../../harness/processes.ts";
import type { ChaosCluster, ChaosServer } from "../cluster.ts";
import { memberStatus } from "../environment/etcd.ts";
import type { Fault } from "./fault.ts";
import { isReady, waitUntil } from "./recovery.ts";

const ENDED_WITHIN_MS = 30_000;
const READY_WITHIN_MS = 60_000;

interface Loss {
  readonly what: string;
  lose(server: ChaosServer): void;
}

const killMember = (server: ChaosServer): void => {
  const pid = server.memberPid();
  if (pid <= 0) throw new Error(`server ${server.n} has no member of etcd that runs`);
  kill(pid, "SIGKILL");
};
const remove = (path: string): void => rmSync(path, { recursive: true, force: true, maxRetries: 9 });

const LOSSES: readonly Loss[] = [
  {
    what: "killed, then its folder removed",
    lose(server) {
      killMember(server);
      remove(server.memberData);
    },
  },
  {
    what: "its folder removed, then killed",
    lose(server) {
      remove(server.memberData);
      killMember(server);
    },
  },
  {
    what: "killed, then its write-ahead log removed",
    lose(server) {
      killMember(server);
      remove(join(server.memberData, "member", "wal"));
    },
  },
  {
    what: "killed, then the files of its write-ahead log removed",
    lose(server) {
      killMember(server);
      const log = join(server.memberData, "member", "wal");
      for (const name of readdirSync(log)) remove(join(log, name));
    },
  },
];

export const removeMemberData: Fault = {
  name: "remove-member-data",
  expectation: "the server ends and does not start without its data; --join --replace brings it back, into one cluster",
  async inject({ cluster, random }) {
    const complaints: string[] = [];
    const server = random.pick(cluster.servers);
    const loss = random.pick(LOSSES);
    const before = await clusterOf(server);
    loss.lose(server);
    const run = server.end();
    if (!(await waitUntil(ENDED_WITHIN_MS, () => !server.isRunning()))) {
      complaints.push(`server ${server.n} runs without its data`);
    } else if ((await run) === 0) {
      complaints.push(`server ${server.n} ended without an error`);
    }
    // As a service manager would.
    for (const how of [[], ["--bootstrap"]]) complaints.push(...(await refusal(server, how)));
    return {
      what: `the member of server ${server.n}, ${loss.what}`,
      holdMs: 0,
      async heal() {
        await server.kill();
        const others = cluster.servers
          .filter(({ n }) => n !== server.n)
          .map(({ machine }) => `${machine.address}:50051`);
        server.start(["--join", ...others, "--replace"]);
        if (!(await waitUntil(READY_WITHIN_MS, () => isReady(cluster, server.n))))
          complaints.push(`server ${server.n} is not back after --join --replace`);
      },
      verify: async () => [...complaints, ...(await otherClusters(cluster, before))],
    };
  },
};

/** Complaints when the server starts. */
async function refusal(server: ChaosServer, how: readonly string[]): Promise<readonly string[]> {
  server.start(how);
  const run = server.end();
  const called = `server ${server.n}, started with "${how.join(" ")}" and without its data,`;
  if (!(await waitUntil(ENDED_WITHIN_MS, () => !server.isRunning()))) return [`${called} runs`];
  const members = server.memberPid() === 0 ? [] : [`${called} left a member that runs`];
  return (await run) === 0 ? [`${called} ended without an error`, ...members] : members;
}

const clusterOf = async ({ machine }: ChaosServer): Promise<number> => (await memberStatus(machine)).cluster;

async function otherClusters({ servers }: ChaosCluster, before: number): Promise<readonly string[]> {
  const found = await Promise.all(servers.map(async (server) => ({ server, cluster: await clusterOf(server) })));
  return found
    .filter(({ cluster }) => cluster !== before)
    .map(({ server, cluster }) => `the member of server ${server.n} is of cluster ${cluster}, not ${before}`);
}
