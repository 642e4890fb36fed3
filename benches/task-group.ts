// A task group of 100,000 elements: how long its submission takes, what the server holds afterwards, and, while simulated nodes run a
// part of it, what the scheduler spends on each element and what the server holds at most.
import { sleep } from "../tests/harness/eventually.ts";
import { residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, plain } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const ELEMENTS = 100_000;
const MOST_SECONDS = 1;
const MOST_MB = 400;
const MOST_MS_PER_ELEMENT = 0.1;
const NODES = 200;
const RUN_MS = 12_000;

const CYCLES = /^lattice_scheduling_cycle_duration_seconds_sum\{[^}]*\} (\S+)$/gm;
const PLACED = /^lattice_scheduling_placements_total\{[^}]*\} (\S+)$/gm;

const sumOf = (text: string, pattern: RegExp): number =>
  Array.from(text.matchAll(pattern), ([, value]) => Number(value)).reduce((sum, value) => sum + value, 0);

export const taskGroup: Bench = (say) =>
  withCluster({ nodes: 0 }, async (cluster) => {
    const begun = performance.now();
    await cluster.submit({ command: ["/bin/true"], task_group: { start: 0, end: ELEMENTS - 1 } });
    const seconds = (performance.now() - begun) / 1_000;
    const megabytes = () => residentBytes(cluster.server.pid) / 1_000_000;
    const after = megabytes();
    const figures = async () => (await fetch(`${cluster.apiUrl}/metrics`)).text();
    cluster.startHollow(NODES);
    await cluster.hollowReady(NODES);
    say(`${NODES} nodes run it`);
    const before = await figures();
    let most = after;
    for (const until = performance.now() + RUN_MS; performance.now() < until; ) {
      await sleep(500);
      most = Math.max(most, megabytes());
    }
    const now = await figures();
    const placed = sumOf(now, PLACED) - sumOf(before, PLACED);
    if (placed < NODES) throw new Error(`only ${placed} elements were placed`);
    const spentMs = (sumOf(now, CYCLES) - sumOf(before, CYCLES)) * 1_000;
    return [
      below("accepted", seconds, "s", MOST_SECONDS),
      below("server_memory", after, "MB", MOST_MB),
      below("server_memory_running", most, "MB", MOST_MB),
      below("scheduler_per_element", spentMs / placed, "ms", MOST_MS_PER_ELEMENT),
      plain("placed", placed / (RUN_MS / 1_000), "elements/s"),
    ];
  });
