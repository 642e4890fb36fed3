// Two task groups of 100,000 elements, run by hollow nodes: the duration of a submission, the maximum server memory until
// the last element has ended, including the history, and the scheduling time per element.
import { eventually } from "../tests/harness/eventually.ts";
import { residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, withoutTarget } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const ELEMENTS = 100_000;
/** The second group runs on a server with the history of the first. */
const GROUPS = 2;
const MAX_SECONDS = 1;
const MAX_MB = 400;
const MAX_MS_PER_ELEMENT = 0.1;
const NODES = 200;
/** Time limit of one group; two cores finish about 840 elements per second. */
const MAX_MINUTES = 15;

const CYCLES = /^lattice_scheduling_cycle_duration_seconds_sum\{[^}]*\} (\S+)$/gm;
const PLACED = /^lattice_scheduling_placements_total\{[^}]*\} (\S+)$/gm;

const sumOf = (text: string, pattern: RegExp): number =>
  Array.from(text.matchAll(pattern), ([, value]) => Number(value)).reduce((sum, value) => sum + value, 0);

export const taskGroup: Bench = (log) =>
  withCluster({ nodes: 0 }, async (cluster) => {
    const megabytes = () => residentBytes(cluster.server.pid) / 1_000_000;
    const figures = async () => (await fetch(`${cluster.apiUrl}/metrics`)).text();
    let slowest = 0;
    let most = 0;
    const submit = async (): Promise<string> => {
      const startedAt = performance.now();
      const id = await cluster.submit({ command: ["/bin/true"], task_group: { start: 0, end: ELEMENTS - 1 } });
      slowest = Math.max(slowest, (performance.now() - startedAt) / 1_000);
      most = Math.max(most, megabytes());
      return id;
    };
    let id = await submit();
    const afterSubmission = megabytes();
    const before = await figures();
    cluster.startHollow(NODES);
    await cluster.hollowReady(NODES);
    const began = performance.now();
    for (let group = 1; group <= GROUPS; group += 1) {
      if (group > 1) id = await submit();
      log(`${NODES} nodes run group ${group} of ${GROUPS}`);
      const waitOptions = { what: `group ${group} has ended`, withinMs: MAX_MINUTES * 60_000, everyMs: 1_000 };
      const state = await eventually(waitOptions, async () => {
        most = Math.max(most, megabytes());
        const now = (await cluster.allocation(id)).state;
        return now === "pending" || now === "running" ? null : now;
      });
      if (state !== "completed") throw new Error(`group ${group} ended as ${state}`);
    }
    const seconds = (performance.now() - began) / 1_000;
    const now = await figures();
    most = Math.max(most, megabytes());
    const placed = sumOf(now, PLACED) - sumOf(before, PLACED);
    if (placed < GROUPS * ELEMENTS) throw new Error(`only ${placed} elements were placed`);
    const spentMs = (sumOf(now, CYCLES) - sumOf(before, CYCLES)) * 1_000;
    return [
      below("accepted", slowest, "s", MAX_SECONDS),
      below("server_memory", afterSubmission, "MB", MAX_MB),
      below("server_memory_max", most, "MB", MAX_MB),
      below("scheduler_per_element", spentMs / placed, "ms", MAX_MS_PER_ELEMENT),
      withoutTarget("ended", placed / seconds, "elements/s"),
    ];
  });
