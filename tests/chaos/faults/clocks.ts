// Clocks that jump while programs run, forwards and back, on all servers or on agents. Running work must not count as
// overdue, nor nodes as silent.
import { sleep } from "../../harness/eventually.ts";
import type { ProgramClock } from "../environment/clock.ts";
import type { Fault } from "./fault.ts";
import { endsUndisturbed, runningSomewhere } from "./watched-job.ts";

const AN_HOUR_S = 3_600;
const EACH_MS = 4_000;

const serverClocks: Fault = {
  name: "clock-jump-servers",
  expectation: "no job is ended and no node judged because servers set their clocks",
  async inject(context) {
    const run = await runningSomewhere(context.ledger, await context.load.one({ seconds: 14 }));
    const clocks = context.cluster.servers.map(({ clock }) => clock);
    await jump(clocks, context.random.between(AN_HOUR_S / 2, AN_HOUR_S));
    return {
      what: "all servers, an hour forwards and back",
      holdMs: 500,
      heal: async () => setAll(clocks, 0),
      verify: () => endsUndisturbed(context, run),
    };
  },
};

const agentClocks: Fault = {
  name: "clock-jump-agents",
  expectation: "no job is ended and no node judged because agents set their clocks",
  async inject(context) {
    const run = await runningSomewhere(context.ledger, await context.load.one({ seconds: 14 }));
    const clocks = context.cluster.nodes.map(({ clock }) => clock);
    await jump(clocks, context.random.between(AN_HOUR_S / 2, AN_HOUR_S));
    return {
      what: "all agents, an hour forwards and back",
      holdMs: 500,
      heal: async () => setAll(clocks, 0),
      verify: () => endsUndisturbed(context, run),
    };
  },
};

async function jump(clocks: readonly ProgramClock[], seconds: number): Promise<void> {
  for (const offset of [seconds, -seconds]) {
    setAll(clocks, offset);
    await sleep(EACH_MS);
  }
}

function setAll(clocks: readonly ProgramClock[], offset: number): void {
  for (const clock of clocks) clock.set(offset);
}

export const clockFaults: readonly Fault[] = [serverClocks, agentClocks];
