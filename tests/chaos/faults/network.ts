// Faults of the network: the leader cut off from the other servers but not from users and agents, and a node cut off
// from everything for longer than its timeout.
import { eventually, sleep } from "../../harness/eventually.ts";
import { type ChaosCluster, SILENCE_MS } from "../cluster.ts";
import { type Fault, noComplaints, nothing } from "./fault.ts";
import { notReady, waitUntil } from "./recovery.ts";
import { endsOnce, runningSomewhere, supersededGone } from "./watched-job.ts";

const FLAPS = 6;
/** A busy machine may need several elections. */
const PATIENCE_MS = 30_000;

const partitionLeader: Fault = {
  name: "partition-1-2",
  expectation: "the two elect a leader and take writes; the one refuses writes and marks what it reads as stale",
  async inject({ cluster, ledger }) {
    const alone = cluster.server(await cluster.leader());
    const others = cluster.servers.filter(({ n }) => n !== alone.n);
    for (const other of others) await cluster.network.cut(alone.machine, other.machine);
    const complaints: string[] = [];
    const script = ledger.script(0.1);
    return {
      what: `server ${alone.n}`,
      holdMs: 7_000,
      async heal() {
        complaints.push(
          ...(await minorityRefuses(cluster, alone.n, script)),
          ...(await majorityLeads(cluster, others[0]?.n ?? 0, script)),
        );
        for (const other of others) await cluster.network.mend(alone.machine, other.machine);
      },
      verify: async () => complaints,
    };
  },
};

const partitionNode: Fault = {
  name: "partition-node",
  expectation:
    "its job is requeued elsewhere; when the node is heard again its old attempt is stopped and counts for nothing",
  async inject(context) {
    const { cluster, load, ledger } = context;
    const id = await load.one({ seconds: 25 });
    const first = await runningSomewhere(ledger, id);
    const { machine } = cluster.node(first.node);
    await cluster.network.unplug(machine);
    const moved = await eventually(
      { what: `${id} runs elsewhere`, withinMs: 60_000, everyMs: 200 },
      () => ledger.living().find((run) => run.allocation === id && run.attempt > first.attempt) ?? null,
    ).catch(() => null);
    return {
      what: `${first.node}, with allocation ${id}`,
      holdMs: moved === null ? SILENCE_MS.timeout + SILENCE_MS.grace : 500,
      heal: () => cluster.network.plug(machine),
      async verify() {
        if (moved === null) return [`${id} was not started elsewhere when ${first.node} was cut off`];
        return [...(await supersededGone(context, first)), ...(await endsOnce(context, id))];
      },
    };
  },
};

const partitionPair: Fault = {
  name: "partition-pair",
  expectation:
    "a follower that reaches the log but not the leader keeps no agent to itself: all nodes are ready while it is cut",
  async inject({ cluster, random, ledger }) {
    const leader = cluster.server(await cluster.leader());
    const follower = random.pick(cluster.servers.filter(({ n }) => n !== leader.n));
    const other = cluster.servers.find(({ n }) => n !== leader.n && n !== follower.n);
    await cluster.network.cut(leader.machine, follower.machine);
    const complaints: string[] = [];
    return {
      what: `server ${follower.n} from leader ${leader.n}`,
      holdMs: 9_000,
      async heal() {
        complaints.push(...(await majorityLeads(cluster, other?.n ?? 0, ledger.script(0.1))));
        const whole = await waitUntil(PATIENCE_MS, async () => (await notReady(cluster)).length === 0);
        if (!whole) complaints.push(`not ready while the pair is cut: ${(await notReady(cluster)).join(", ")}`);
        await cluster.network.mend(leader.machine, follower.machine);
      },
      verify: async () => complaints,
    };
  },
};

const flapping: Fault = {
  name: "flapping-network",
  expectation: "the cluster recovers once the connection is stable, whichever server led meanwhile",
  async inject({ cluster, random }) {
    const struck = cluster.server(await cluster.leader());
    for (let turn = 0; turn < FLAPS; turn += 1) {
      await cluster.network.unplug(struck.machine);
      await sleep(random.between(300, 1_500));
      await cluster.network.plug(struck.machine);
      await sleep(random.between(200, 900));
    }
    return { what: `server ${struck.n}, ${FLAPS} times`, holdMs: 500, heal: nothing, verify: noComplaints };
  },
};

async function minorityRefuses(cluster: ChaosCluster, n: number, entrypoint: string): Promise<string[]> {
  const body = { name: "to-a-minority", entrypoint };
  const refused = await waitUntil(PATIENCE_MS, async () => {
    const answer = await cluster.api(n, "POST", "/allocations", body, 12_000).catch(() => null);
    return answer?.status === 503;
  });
  const read = await cluster.api(n, "GET", "/nodes").catch(() => null);
  return [
    ...(refused ? [] : [`server ${n}, cut off from the others, does not refuse writes with 503`]),
    ...(read?.headers.get("x-lattice-stale") === "true"
      ? []
      : [`server ${n}, cut off, does not mark reads as stale (${read?.status})`]),
  ];
}

async function majorityLeads(cluster: ChaosCluster, n: number, entrypoint: string): Promise<string[]> {
  const body = { name: "to-the-majority", entrypoint };
  const taken = await waitUntil(PATIENCE_MS, async () => {
    const answer = await cluster.api(n, "POST", "/allocations", body).catch(() => null);
    return answer?.status === 200;
  });
  return taken ? [] : [`server ${n}, of the majority, takes no writes within ${PATIENCE_MS / 1000} s`];
}

export const networkFaults: readonly Fault[] = [partitionLeader, partitionNode, partitionPair, flapping];
