// Faults of etcd: killed and paused members, maintenance under load, and a damaged snapshot.
import { readFileSync } from "node:fs";
import { sleep } from "../../harness/eventually.ts";
import { kill } from "../../harness/processes.ts";
import { type ChaosCluster, type ChaosServer, PREFIX } from "../cluster.ts";
import { compact, defragment, memberStatus, put, range } from "../environment/etcd.ts";
import { type Fault, noComplaints, nothing } from "./fault.ts";
import { isReady, waitUntil } from "./recovery.ts";

const RESTART_WITHIN_MS = 60_000;
/** Five are kept, and one must remain to start from. */
const MAX_DAMAGED = 3;
const DAMAGED = "is not usable: its checksum";

const killFollowerMember: Fault = {
  name: "kill-member",
  expectation: "the server of a follower restarts its member; no user notices",
  inject: async ({ cluster, random }) =>
    await killMemberOf(random.pick(await membersBy(cluster, (isLeader) => !isLeader))),
};

const killLeaderMember: Fault = {
  name: "kill-etcd-leader",
  expectation: "etcd elects a leader, the old one is restarted, and writes continue",
  async inject({ cluster }) {
    const [leader] = await membersBy(cluster, (isLeader) => isLeader);
    return await killMemberOf(leader);
  },
};

const pauseLeaderMember: Fault = {
  name: "pause-etcd-leader",
  expectation: "etcd elects a leader, and the old one catches up when it resumes",
  async inject({ cluster }) {
    const [leader] = await membersBy(cluster, (isLeader) => isLeader);
    const pid = memberOf(leader);
    kill(pid, "SIGSTOP");
    return {
      what: `the member of server ${leader?.n}`,
      holdMs: 6_000,
      heal: async () => kill(pid, "SIGCONT"),
      verify: noComplaints,
    };
  },
};

const upkeep: Fault = {
  name: "defrag-and-compaction",
  expectation: "followers that missed a compaction catch up, and writes continue during defragmentation",
  async inject({ cluster }) {
    const leader = await cluster.leader();
    const away = cluster.servers.find(({ n }) => n !== leader);
    if (away !== undefined) kill(away.pid, "SIGSTOP");
    await sleep(2_500);
    const asked = cluster.server(leader).machine;
    await compact(asked, (await memberStatus(asked)).revision);
    if (away !== undefined) kill(away.pid, "SIGCONT");
    for (const { machine } of cluster.servers) await defragment(machine);
    return {
      what: `all members, server ${away?.n} away meanwhile`,
      holdMs: 1_000,
      heal: nothing,
      verify: noComplaints,
    };
  },
};

const corruptSnapshot: Fault = {
  name: "corrupt-newest-snapshot",
  expectation: "servers that start say that it is damaged, take the one before, and reach the same state",
  async inject({ cluster }) {
    const leader = await cluster.leader();
    const others = cluster.servers.filter(({ n }) => n !== leader);
    const complaints: string[] = [];
    const read = others.map((server) => readFileSync(server.logFile, "utf8").length);
    await Promise.all(others.map((server) => server.kill()));
    const damaged = new Set<string>();
    if (!(await waitUntil(RESTART_WITHIN_MS, () => damageNewest(cluster, leader, damaged)))) {
      complaints.push("there were no two snapshots, of which one could be damaged");
    }
    for (const server of others) server.start();
    // The leader may take a newer one before the others have read: that one is damaged, too.
    const up = await waitUntil(RESTART_WITHIN_MS, async () => {
      if (damaged.size < MAX_DAMAGED) await damageNewest(cluster, leader, damaged).catch(() => false);
      return (await Promise.all(others.map(({ n }) => isReady(cluster, n)))).every(Boolean);
    });
    if (!up) complaints.push(`servers ${others.map(({ n }) => n).join(" and ")} are not ready again`);
    const noticed = others.some((server, at) => readFileSync(server.logFile, "utf8").slice(read[at]).includes(DAMAGED));
    if (!noticed) complaints.push("no server that started said that the newest snapshot is damaged");
    return {
      what: `servers ${others.map(({ n }) => n).join(" and ")} are started again`,
      holdMs: 500,
      heal: nothing,
      verify: async () => complaints,
    };
  },
};

async function membersBy(cluster: ChaosCluster, wanted: (isLeader: boolean) => boolean): Promise<ChaosServer[]> {
  const asked = cluster.servers.map(async (server) => ({ server, status: await memberStatus(server.machine) }));
  return (await Promise.all(asked)).filter(({ status }) => wanted(status.isLeader)).map(({ server }) => server);
}

/** Throws when there is none: process group 0 would be this program's own. */
function memberOf(server: ChaosServer | undefined): number {
  const pid = server?.memberPid() ?? 0;
  if (pid <= 0) throw new Error(`server ${server?.n} has no member of etcd that runs`);
  return pid;
}

async function killMemberOf(server: ChaosServer | undefined) {
  const pid = memberOf(server);
  kill(pid, "SIGKILL");
  return {
    what: `the member of server ${server?.n}`,
    holdMs: 1_000,
    heal: nothing,
    async verify() {
      const back = await waitUntil(RESTART_WITHIN_MS, () => ![0, pid].includes(server?.memberPid() ?? 0));
      return back ? [] : [`server ${server?.n} did not start its member again`];
    },
  };
}

/** False when there is none, or it is already damaged. At least one older one stays intact. */
async function damageNewest(cluster: ChaosCluster, n: number, damaged: Set<string>): Promise<boolean> {
  const { machine } = cluster.server(n);
  const all = await range(machine, {
    from: `${PREFIX}/meta/snapshot/`,
    to: `${PREFIX}/meta/snapshot0`,
    keysOnly: true,
  });
  const newest = all.at(-1)?.key;
  if (newest === undefined || all.length < 2 || damaged.has(newest)) return false;
  const id = newest.slice(newest.lastIndexOf("-") + 1);
  const [piece] = await range(machine, {
    from: `${PREFIX}/snapdata/${id}/`,
    to: `${PREFIX}/snapdata/${id}0`,
    limit: 1,
  });
  if (piece === undefined) return false;
  const middle = Math.floor(piece.value.length / 2);
  for (let at = middle; at < Math.min(middle + 8, piece.value.length); at += 1)
    piece.value[at] = (piece.value[at] ?? 0) ^ 0xff;
  await put(machine, piece.key, piece.value);
  damaged.add(newest);
  return true;
}

export const memberFaults: readonly Fault[] = [
  killFollowerMember,
  killLeaderMember,
  pauseLeaderMember,
  upkeep,
  corruptSnapshot,
];
