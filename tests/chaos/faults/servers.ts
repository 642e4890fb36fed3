// Faults of the servers themselves: killed, stopped, paused, all at once.
import { kill } from "../../harness/processes.ts";
import type { ServerOnStage, Stage } from "../stage.ts";
import { type Fault, noComplaints } from "./fault.ts";
import { becomes } from "./recovery.ts";

/** A lease is two seconds; a busy machine takes its time on top. */
const TAKEOVER_WITHIN_MS = 20_000;

const killLeader: Fault = {
  name: "kill-leader",
  expectation: "another server leads and takes writes; running jobs go on",
  async inject({ stage }) {
    const old = stage.server(await stage.leader());
    await old.kill();
    const complaints = await takenOver(stage, old);
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
  async inject({ stage }) {
    const old = stage.server(await stage.leader());
    const code = await old.stop();
    const complaints = [...(code === 0 ? [] : [`the server ended with ${code}`]), ...(await takenOver(stage, old))];
    return { what: `server ${old.n}`, holdMs: 1_000, heal: async () => old.start(), verify: async () => complaints };
  },
};

const pauseLeader: Fault = {
  name: "pause-leader",
  expectation: "another server leads; what wakes up knows who leads, and commits nothing of its own",
  async inject({ stage }) {
    const old = stage.server(await stage.leader());
    kill(old.pid, "SIGSTOP");
    const complaints = [...(await takenOver(stage, old))];
    return {
      what: `server ${old.n}`,
      holdMs: 2_000,
      heal: async () => kill(old.pid, "SIGCONT"),
      // That it commits nothing is seen in the log: no entry of an old term follows one of a new term.
      async verify() {
        const knows = await becomes(TAKEOVER_WITHIN_MS, async () => {
          const answer = await stage.api<{ leader?: string }>(old.n, "GET", "/raft/status").catch(() => null);
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
  async inject({ stage }) {
    const members = stage.servers.map((server) => server.memberPid());
    await Promise.all([
      ...stage.servers.map((server) => server.kill()),
      ...members.filter((pid) => pid > 0).map(async (pid) => kill(pid, "SIGKILL")),
    ]);
    return {
      what: "all servers and members",
      holdMs: 1_500,
      heal: async () => {
        for (const server of stage.servers) server.start();
      },
      verify: noComplaints,
    };
  },
};

const killFollowers: Fault = {
  name: "kill-followers",
  expectation: "the leader goes on alone, for the members of etcd live on",
  async inject({ stage }) {
    const leader = await stage.leader();
    const others = stage.servers.filter(({ n }) => n !== leader);
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

async function takenOver(stage: Stage, old: ServerOnStage): Promise<string[]> {
  const others = stage.servers.filter(({ n }) => n !== old.n);
  const led = await becomes(TAKEOVER_WITHIN_MS, async () => {
    const told = others.map(
      async ({ n }) => await stage.api<{ is_leader?: boolean }>(n, "GET", "/raft/status").catch(() => null),
    );
    return (await Promise.all(told)).some((answer) => answer?.body.is_leader === true);
  });
  return led ? [] : [`no other server led within ${TAKEOVER_WITHIN_MS / 1000} s after server ${old.n} went away`];
}

export const serverFaults: readonly Fault[] = [killLeader, stopLeader, pauseLeader, killAll, killFollowers];
