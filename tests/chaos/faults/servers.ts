// Faults of the servers: killed, stopped, paused, all at once.
import { kill } from "../../harness/processes.ts";
import type { ChaosCluster, ChaosServer } from "../cluster.ts";
import { type Fault, noComplaints } from "./fault.ts";
import { waitUntil } from "./recovery.ts";

/** A lease is two seconds; a busy machine needs more. */
const TAKEOVER_WITHIN_MS = 20_000;

const killLeader: Fault = {
  name: "kill-leader",
  expectation: "another server leads and accepts writes; running jobs continue",
  async inject({ cluster }) {
    const old = cluster.server(await cluster.leader());
    await old.kill();
    const complaints = await takenOver(cluster, old);
    return {
      what: `server ${old.n}`,
      holdMs: 3_000,
      heal: async () => old.start(),
      verify: async () => complaints,
    };
  },
};

const stopLeader: Fault = {
  name: "stop-leader",
  expectation: "SIGTERM hands over and ends with status 0; another server takes writes",
  async inject({ cluster }) {
    const old = cluster.server(await cluster.leader());
    const code = await old.stop();
    const complaints = [...(code === 0 ? [] : [`the server ended with ${code}`]), ...(await takenOver(cluster, old))];
    return { what: `server ${old.n}`, holdMs: 1_000, heal: async () => old.start(), verify: async () => complaints };
  },
};

const pauseLeader: Fault = {
  name: "pause-leader",
  expectation: "another server leads; what wakes up knows who leads, and commits nothing of its own",
  async inject({ cluster }) {
    const old = cluster.server(await cluster.leader());
    kill(old.pid, "SIGSTOP");
    const complaints = [...(await takenOver(cluster, old))];
    return {
      what: `server ${old.n}`,
      holdMs: 2_000,
      heal: async () => kill(old.pid, "SIGCONT"),
      // The log shows that it commits nothing: no entry of an old term follows one of a new term.
      async verify() {
        const knows = await waitUntil(TAKEOVER_WITHIN_MS, async () => {
          const answer = await cluster.api<{ leader?: string }>(old.n, "GET", "/raft/status").catch(() => null);
          return (answer?.body.leader ?? "") !== "";
        });
        if (!knows) complaints.push(`server ${old.n} does not know who leads after its pause`);
        return complaints;
      },
    };
  },
};

const killAll: Fault = {
  name: "kill-all",
  expectation: "everything that was acknowledged is there when servers and members are started again",
  async inject({ cluster }) {
    const members = cluster.servers.map((server) => server.memberPid());
    await Promise.all([
      ...cluster.servers.map((server) => server.kill()),
      ...members.filter((pid) => pid > 0).map(async (pid) => kill(pid, "SIGKILL")),
    ]);
    return {
      what: "all servers and members",
      holdMs: 1_500,
      heal: async () => {
        for (const server of cluster.servers) server.start();
      },
      verify: noComplaints,
    };
  },
};

const killFollowers: Fault = {
  name: "kill-followers",
  expectation: "the leader continues alone, because the etcd members live",
  async inject({ cluster }) {
    const leader = await cluster.leader();
    const others = cluster.servers.filter(({ n }) => n !== leader);
    await Promise.all(others.map((server) => server.kill()));
    return {
      what: others.map(({ n }) => `server ${n}`).join(" and "),
      holdMs: 2_000,
      heal: async () => {
        for (const server of others) server.start();
      },
      verify: noComplaints,
    };
  },
};

async function takenOver(cluster: ChaosCluster, old: ChaosServer): Promise<string[]> {
  const others = cluster.servers.filter(({ n }) => n !== old.n);
  const led = await waitUntil(TAKEOVER_WITHIN_MS, async () => {
    const answers = others.map(
      async ({ n }) => await cluster.api<{ is_leader?: boolean }>(n, "GET", "/raft/status").catch(() => null),
    );
    return (await Promise.all(answers)).some((answer) => answer?.body.is_leader === true);
  });
  return led ? [] : [`no other server led within ${TAKEOVER_WITHIN_MS / 1000} s after server ${old.n} went away`];
}

export const serverFaults: readonly Fault[] = [killLeader, stopLeader, pauseLeader, killAll, killFollowers];
