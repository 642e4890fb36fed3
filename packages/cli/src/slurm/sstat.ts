// `sstat`: the recent resource usage of running jobs, as measured by the agents. A job is one line, its batch step:
// agents measure a job per node, not per step, so nodes replace Slurm's tasks. Unmeasured values stay empty. Agents
// report rates for CPU and files; a sum is shown only when the job was measured from its start.

import type { Allocation, MetricSeries, Node } from "@lattice/sdk";
import { compressHosts } from "@lattice/wire";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, listOf, parseCommandLine } from "./command-line.ts";
import { print, printError, type SlurmContext } from "./context.ts";
import { isHidden } from "./hidden-jobs.ts";
import { coresOf, nodesById } from "./job-facts.ts";
import { taskCount } from "./job-fields.ts";
import { plainJob } from "./jobs.ts";
import { chosenFields, printRecords, type RecordField } from "./record-table.ts";
import { slurmError } from "./slurm-error.ts";
import { fullSpan } from "./times.ts";

const GRAMMAR: Grammar = {
  program: "sstat",
  rules: [
    { long: "jobs", short: "j", value: "required" },
    { long: "allsteps", short: "a" },
    { long: "format", short: "o", value: "required" },
    { long: "fields", value: "required", as: "format" },
    { long: "helpformat", short: "e" },
    { long: "noheader", short: "n" },
    { long: "noconvert" },
    { long: "parsable", short: "p" },
    { long: "parsable2", short: "P" },
    { long: "verbose", short: "v" },
  ],
};

interface JobUsage {
  readonly job: Allocation;
  /** One series per node. */
  readonly memory: readonly MetricSeries[];
  /** Per node since the start: CPU seconds, bytes read and written. */
  readonly cpu: readonly NodeSum[];
  readonly read: readonly NodeSum[];
  readonly written: readonly NodeSum[];
}

const field = (
  name: string,
  width: number,
  value: RecordField<JobUsage>["value"] = () => "",
): RecordField<JobUsage> => ({
  name,
  width,
  value,
});

const TRES = ["Ave", "Max", "MaxNode", "MaxTask", "Min", "MinNode", "MinTask", "Tot"];

/** Slurm's order and widths. */
const FIELDS: readonly RecordField<JobUsage>[] = [
  { ...field("JobID", 12, ({ job }) => `${job.id}.batch`), left: true },
  field("MaxVMSize", 10),
  field("MaxVMSizeNode", 14),
  field("MaxVMSizeTask", 14),
  field("AveVMSize", 10),
  field("MaxRSS", 10, ({ memory }) => amount(most(memory)?.bytes)),
  field("MaxRSSNode", 10, ({ memory }) => most(memory)?.node ?? ""),
  field("MaxRSSTask", 10),
  field("AveRSS", 10, ({ memory }) => amount(mean(memory))),
  field("MaxPages", 8),
  field("MaxPagesNode", 12),
  field("MaxPagesTask", 14),
  field("AvePages", 10),
  field("MinCPU", 10, ({ cpu }) => spanOf(least(cpu)?.sum)),
  field("MinCPUNode", 10, ({ cpu }) => least(cpu)?.node ?? ""),
  field("MinCPUTask", 10),
  field("AveCPU", 10, ({ cpu }) => spanOf(meanSum(cpu))),
  field("NTasks", 8, ({ job }) => `${taskCount(plainJob(job))}`),
  field("AveCPUFreq", 10),
  field("ReqCPUFreqMin", 13),
  field("ReqCPUFreqMax", 13),
  field("ReqCPUFreqGov", 13),
  field("ConsumedEnergy", 14),
  field("MaxDiskRead", 12, ({ read }) => amount(greatest(read)?.sum)),
  field("MaxDiskReadNode", 15, ({ read }) => greatest(read)?.node ?? ""),
  field("MaxDiskReadTask", 15),
  field("AveDiskRead", 12, ({ read }) => amount(meanSum(read))),
  field("MaxDiskWrite", 12, ({ written }) => amount(greatest(written)?.sum)),
  field("MaxDiskWriteNode", 16, ({ written }) => greatest(written)?.node ?? ""),
  field("MaxDiskWriteTask", 16),
  field("AveDiskWrite", 12, ({ written }) => amount(meanSum(written))),
  // Not measured; listed so that the table has all of Slurm's columns.
  ...["In", "Out"]
    .flatMap((way) => TRES.map((what) => `TRESUsage${way}${what}`))
    .map((name) => field(name, name.length)),
];
const MORE: readonly RecordField<JobUsage>[] = [
  field("Nodelist", 20, ({ job }) => compressHosts(job.nodes ?? [])),
  field("Pids", 20),
  field("ConsumedEnergyRaw", 17),
];

/** The leader keeps measurements for this long. */
const HOUR_SECONDS = 3_600;

export const command: SlurmCommand = {
  help: "Usage: sstat [-n] [-p|-P] [-j ID,...] [-o FIELD[%WIDTH],...]",
  run: async (context, argv) => {
    const words = parseCommandLine(GRAMMAR, argv);
    const all = [...FIELDS, ...MORE];
    if (has(words, "helpformat")) return print(all.map(({ name }) => name).join(" ")) ?? 0;
    const fields = chosenFields(
      "sstat",
      words,
      all,
      FIELDS.map(({ name }) => name),
    );
    const ids = [...(listOf(words, "jobs") ?? []), ...words.operands.flatMap((word) => word.split(","))];
    if (ids.length === 0) throw slurmError("sstat", "You didn't give me any jobs to stat.");
    const used: JobUsage[] = [];
    const cores = fields.some(({ name }) => name.includes("CPU")) ? await nodesById(context) : new Map<string, Node>();
    for (const id of ids) used.push(...(await usedBy(context, id.replace(/\..*$/, ""), cores)));
    printRecords(words, fields, used);
    return 0;
  },
};

/** Returns nothing for a job that does not run; like Slurm, reports it and continues. */
async function usedBy(
  { client }: SlurmContext,
  id: string,
  nodes: ReadonlyMap<string, Node>,
): Promise<readonly JobUsage[]> {
  const job = await client.get(id).catch(ifUnknown);
  if (job === null || job.group !== undefined || !RUNS.has(job.state)) {
    printError(`sstat: error: couldn't get steps for job ${id}`);
    return [];
  }
  const answer = await client.metrics(id, {
    mode: "per_node",
    metrics: ["memory_used", "cpu_utilization", "io_read_bytes", "io_write_bytes"],
    duration_seconds: HOUR_SECONDS,
  });
  if (answer.unavailable_reason) printError(`sstat: job ${id}: ${answer.unavailable_reason}`);
  const seriesOf = (name: string) => (answer.series ?? []).filter(({ metric }) => metric === name);
  const coresOn = (node: string): number => coresOf({ ...job, nodes: [node] }, nodes) ?? 0;
  return [
    {
      job,
      memory: seriesOf("memory_used"),
      // The metric is in percent of the allocated cores.
      cpu: sumsOf(job, seriesOf("cpu_utilization"), (node) => coresOn(node) / 100),
      read: sumsOf(job, seriesOf("io_read_bytes")),
      written: sumsOf(job, seriesOf("io_write_bytes")),
    },
  ];
}

const RUNS = new Set<string>(["running", "checkpointing"]);

function ifUnknown(error: unknown): null {
  if (isHidden(error)) return null;
  throw error;
}

const valuesOf = ({ points = [] }: MetricSeries): readonly number[] => points.map(({ value = 0 }) => value);

function most(series: readonly MetricSeries[]): { readonly node: string; readonly bytes: number } | null {
  let found: { readonly node: string; readonly bytes: number } | null = null;
  for (const one of series) {
    for (const bytes of valuesOf(one))
      if (found === null || bytes > found.bytes) found = { node: one.node ?? "", bytes };
  }
  return found;
}

function mean(series: readonly MetricSeries[]): number | undefined {
  const values = series.flatMap(valuesOf);
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

const amount = (bytes: number | undefined): string => (bytes === undefined ? "" : `${Math.round(bytes / 1024)}K`);

const spanOf = (seconds: number | undefined): string => (seconds === undefined ? "" : fullSpan(seconds));

interface NodeSum {
  readonly node: string;
  readonly sum: number;
}

/** Agents measure every 30 s; a longer gap means a missing measurement. */
const MAX_GAP_MS = 50_000;

/** Integrates rates into sums per node, scaled by `factor`. Leaves out nodes that were not measured from the start. */
function sumsOf(
  { started_at }: Allocation,
  series: readonly MetricSeries[],
  factor: (node: string) => number = () => 1,
): readonly NodeSum[] {
  if (started_at === undefined) return [];
  return series.flatMap(({ node = "", points = [] }) => {
    const by = factor(node);
    let before = Date.parse(started_at);
    let sum = 0;
    for (const { at, value = 0 } of points) {
      const now = Date.parse(at ?? "");
      if (!(now - before <= MAX_GAP_MS)) return [];
      sum += (Math.max(0, now - before) / 1000) * value * by;
      before = Math.max(before, now);
    }
    return points.length === 0 || by === 0 ? [] : [{ node, sum }];
  });
}

function greatest(sums: readonly NodeSum[]): NodeSum | null {
  let found: NodeSum | null = null;
  for (const one of sums) if (found === null || one.sum > found.sum) found = one;
  return found;
}

function least(sums: readonly NodeSum[]): NodeSum | null {
  let found: NodeSum | null = null;
  for (const one of sums) if (found === null || one.sum < found.sum) found = one;
  return found;
}

const meanSum = (sums: readonly NodeSum[]): number | undefined =>
  sums.length === 0 ? undefined : sums.reduce((all, { sum }) => all + sum, 0) / sums.length;
