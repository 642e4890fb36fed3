// Task groups of 100,000 elements, one after the other, each run to its end by simulated nodes: how long a submission takes, what the
// server holds at most from the first submission until the last element has ended, its marks and its history included, and what the scheduler
// spends on each element.
import { eventually } from "../tests/harness/eventually.ts";
import { residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, plain } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const ELEMENTS = 100_000;
/** The second finds the server with all that the first has left behind. */
const GROUPS = 2;
const MOST_SECONDS = 1;
const MOST_MB = 400;
const MOST_MS_PER_ELEMENT = 0.1;
const NODES = 200;
/** For one group; about 840 elements a second end on two cores. */
const MOST_MINUTES = 15;

const CYCLES = /^lattice_scheduling_cycle_duration_seconds_sum\{[^}]*\} (\S+)$/gm;
const PLACED = /^lattice_scheduling_placements_total\{[^}]*\} (\S+)$/gm;

const sumOf = (text: string, pattern: RegExp): number =>
  Array.from(text.matchAll(pattern), ([, value]) => Number(value)).reduce((sum, value) => sum + value, 0);

export const taskGroup: Bench = (say) =>
  withCluster({ nodes: 0 }, async (cluster) => {
    const megabytes = () => residentBytes(cluster.server.pid) / 1_000_000;
    const figures = async () => (await fetch(`${cluster.apiUrl}/metrics`)).text();
    let slowest = 0;
    let most = 0;
    const submit = async (): Promise<string> => {
      const begun = performance.now();
      const id = await cluster.submit({ command: ["/bin/true"], task_group: { start: 0, end: ELEMENTS - 1 } });
      slowest = Math.max(slowest, (performance.now() - begun) / 1_000);
      most = Math.max(most, megabytes());
      return id;
    };
    let id = await submit();
    const held = megabytes();
    const before = await figures();
    cluster.startHollow(NODES);
    await cluster.hollowReady(NODES);
    const began = performance.now();
    for (let group = 1; group <= GROUPS; group += 1) {
      if (group > 1) id = await submit();
      say(`${NODES} nodes run group ${group} of ${GROUPS}`);
      const patience = { what: `group ${group} has ended`, withinMs: MOST_MINUTES * 60_000, everyMs: 1_000 };
      const state = await eventually(patience, async () => {
        most = Math.max(most, megabytes());
        const now = (await cluster.allocation(id)).state;
        return now === "pending" || now === "running" ? null : now;
      });
      if (state !== "completed") throw new Error(`group ${group} is ${state}`);
    }
    const seconds = (performance.now() - began) / 1_000;
    const now = await figures();
    most = Math.max(most, megabytes());
    const placed = sumOf(now, PLACED) - sumOf(before, PLACED);
    if (placed < GROUPS * ELEMENTS) throw new Error(`only ${placed} elements were placed`);
    const spentMs = (sumOf(now, CYCLES) - sumOf(before, CYCLES)) * 1_000;
    return [
      below("accepted", slowest, "s", MOST_SECONDS),
      below("server_memory", held, "MB", MOST_MB),
      below("server_memory_most", most, "MB", MOST_MB),
      below("scheduler_per_element", spentMs / placed, "ms", MOST_MS_PER_ELEMENT),
      plain("ended", placed / seconds, "elements/s"),
    ];
  });
