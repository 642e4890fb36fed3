// Faults of the network: the leader cut off from the other servers but not from users and agents, and a node cut off
// from everyone for longer than it may be silent.
import { eventually, sleep } from "../../harness/eventually.ts";
import { SILENCE_MS, type Stage } from "../stage.ts";
import { type Fault, noComplaints, nothing } from "./fault.ts";
import { becomes, notReady } from "./recovery.ts";
import { endsOnce, runningSomewhere, supersededGone } from "./watched-job.ts";

const FLAPS = 6;
/** A busy machine may need several elections. */
const PATIENCE_MS = 30_000;

const partitionLeader: Fault = {
  name: "partition-1-2",
  expectation: "the two elect a leader and take writes; the one refuses writes and marks what it reads as stale",
  async inject({ stage, ledger }) {
    const alone = stage.server(await stage.leader());
    const others = stage.servers.filter(({ n }) => n !== alone.n);
    for (const other of others) await stage.network.cut(alone.machine, other.machine);
    const complaints: string[] = [];
    const script = ledger.script(0.1);
    return {
      what: `server ${alone.n}`,
      holdMs: 7_000,
      async heal() {
        complaints.push(
          ...(await minorityRefuses(stage, alone.n, script)),
          ...(await majorityLeads(stage, others[0]?.n ?? 0, script)),
        );
        for (const other of others) await stage.network.mend(alone.machine, other.machine);
      },
      verify: async () => complaints,
    };
  },
};

const partitionNode: Fault = {
  name: "partition-node",
  expectation:
    "its job is requeued elsewhere; when the node is heard again its old attempt is stopped and counts for nothing",
  async inject(scene) {
    const { stage, load, ledger } = scene;
    const id = await load.one({ seconds: 25 });
    const first = await runningSomewhere(ledger, id);
    const { machine } = stage.node(first.node);
    await stage.network.unplug(machine);
    const moved = await eventually(
      { what: `${id} runs elsewhere`, withinMs: 60_000, everyMs: 200 },
      () => ledger.living().find((run) => run.allocation === id && run.attempt > first.attempt) ?? null,
    ).catch(() => null);
    return {
      what: `${first.node}, with allocation ${id}`,
      holdMs: moved === null ? SILENCE_MS.timeout + SILENCE_MS.grace : 500,
      heal: () => stage.network.plug(machine),
      async verify() {
        if (moved === null) return [`${id} was not started elsewhere when ${first.node} was cut off`];
        return [...(await supersededGone(scene, first)), ...(await endsOnce(scene, id))];
      },
    };
  },
};

const partitionPair: Fault = {
  name: "partition-pair",
  expectation:
    "a follower that reaches the log but not the leader keeps no agent to itself: all nodes are ready while it is cut",
  async inject({ stage, random, ledger }) {
    const leader = stage.server(await stage.leader());
    const follower = random.pick(stage.servers.filter(({ n }) => n !== leader.n));
    const other = stage.servers.find(({ n }) => n !== leader.n && n !== follower.n);
    await stage.network.cut(leader.machine, follower.machine);
    const complaints: string[] = [];
    return {
      what: `server ${follower.n} from leader ${leader.n}`,
      holdMs: 9_000,
      async heal() {
        complaints.push(...(await majorityLeads(stage, other?.n ?? 0, ledger.script(0.1))));
        const whole = await becomes(PATIENCE_MS, async () => (await notReady(stage)).length === 0);
        if (!whole) complaints.push(`not ready while the pair is cut: ${(await notReady(stage)).join(", ")}`);
        await stage.network.mend(leader.machine, follower.machine);
      },
      verify: async () => complaints,
    };
  },
};

const flapping: Fault = {
  name: "flapping-network",
  expectation: "whoever leads in between, everything is as it should be once the wire is whole",
  async inject({ stage, random }) {
    const struck = stage.server(await stage.leader());
    for (let turn = 0; turn < FLAPS; turn += 1) {
      await stage.network.unplug(struck.machine);
      await sleep(random.between(300, 1_500));
      await stage.network.plug(struck.machine);
      await sleep(random.between(200, 900));
    }
    return { what: `server ${struck.n}, ${FLAPS} times`, holdMs: 500, heal: nothing, verify: noComplaints };
  },
};

async function minorityRefuses(stage: Stage, n: number, entrypoint: string): Promise<string[]> {
  const body = { name: "to-a-minority", entrypoint };
  const refused = await becomes(PATIENCE_MS, async () => {
    const answer = await stage.api(n, "POST", "/allocations", body, 12_000).catch(() => null);
    return answer?.status === 503;
  });
  const read = await stage.api(n, "GET", "/nodes").catch(() => null);
  return [
    ...(refused ? [] : [`server ${n}, cut off from the others, does not refuse writes with 503`]),
    ...(read?.headers.get("x-lattice-stale") === "true"
      ? []
      : [`server ${n}, cut off, does not mark reads as stale (${read?.status})`]),
  ];
}

async function majorityLeads(stage: Stage, n: number, entrypoint: string): Promise<string[]> {
  const body = { name: "to-the-majority", entrypoint };
  const taken = await becomes(PATIENCE_MS, async () => {
    const answer = await stage.api(n, "POST", "/allocations", body).catch(() => null);
    return answer?.status === 200;
  });
  return taken ? [] : [`server ${n}, of the majority, takes no writes within ${PATIENCE_MS / 1000} s`];
}

export const networkFaults: readonly Fault[] = [partitionLeader, partitionNode, partitionPair, flapping];
