// Faults of agents: killed while their jobs run, one or three at once, and one that returns with an attempt that was
// withdrawn long ago.
import { eventually } from "../../harness/eventually.ts";
import type { Fault } from "./fault.ts";
import { endsOnce, endsUndisturbed, type Living, runningSomewhere, supersededGone } from "./watched-job.ts";

const agentCrash: Fault = {
  name: "agent-crash",
  expectation: "the job outlives its agent, is adopted when the agent is back, and ends as the same attempt",
  async inject(context) {
    const { cluster, load, ledger } = context;
    const run = await runningSomewhere(ledger, await load.one({ seconds: 8 }));
    const node = cluster.node(run.node);
    await node.kill();
    return {
      what: `${run.node}, with allocation ${run.allocation}`,
      holdMs: 1_500,
      heal: async () => node.start(),
      verify: () => endsUndisturbed(context, run),
    };
  },
};

const threeAgents: Fault = {
  name: "three-agents-at-once",
  expectation: "jobs outlive their agents, several nodes' jobs as well; all end as the same attempts",
  async inject(context) {
    const { cluster, load, ledger } = context;
    const runs: Living[] = [];
    for (let n = 0; n < 3; n += 1) runs.push(await runningSomewhere(ledger, await load.one({ seconds: 8 })));
    const struck = [...new Set(runs.map(({ node }) => node))].map((name) => cluster.node(name));
    await Promise.all(struck.map((node) => node.kill()));
    return {
      what: struck.map(({ name }) => name).join(", "),
      holdMs: 1_500,
      heal: async () => {
        for (const node of struck) node.start();
      },
      verify: async () => (await Promise.all(runs.map((run) => endsUndisturbed(context, run)))).flat(),
    };
  },
};

const oldAttempt: Fault = {
  name: "old-attempt",
  expectation:
    "an agent that comes back with an attempt that was requeued meanwhile ends it, and it counts for nothing",
  async inject(context) {
    const { cluster, load, ledger } = context;
    const first = await runningSomewhere(ledger, await load.one({ seconds: 25 }));
    const node = cluster.node(first.node);
    await node.kill();
    const moved = await eventually(
      { what: "it runs elsewhere", withinMs: 60_000, everyMs: 200 },
      () =>
        ledger.living().find(({ allocation, attempt }) => allocation === first.allocation && attempt > first.attempt) ??
        null,
    ).catch(() => null);
    return {
      what: `${first.node}, with allocation ${first.allocation}`,
      holdMs: 500,
      heal: async () => node.start(),
      async verify() {
        if (moved === null) return [`${first.allocation} was not started elsewhere when ${first.node} had no agent`];
        return [...(await supersededGone(context, first)), ...(await endsOnce(context, first.allocation))];
      },
    };
  },
};

export const agentFaults: readonly Fault[] = [agentCrash, threeAgents, oldAttempt];
