// `sstat`: what running jobs use, as their agents have measured of late. A job is one line, its batch step: what is
// measured is the job on each of its nodes, not single steps, so a node stands where Slurm has a task. What is not
// measured stays empty, and a job of which nothing was measured yet is said to be so. Agents tell of processors and of
// files how fast, not how much: the sum is told where the job was measured all along, and else nothing is.

import type { Allocation, MetricSeries, Node } from "@lattice/sdk";
import type { SlurmCommand } from "./command.ts";
import { complain, type Desk, print } from "./desk.ts";
import { compressHosts } from "./hostlist.ts";
import { coresOf, nodesById } from "./job-facts.ts";
import { taskCount } from "./job-fields.ts";
import { plainJob } from "./jobs.ts";
import { chosenFields, printRecords, type RecordField } from "./record-table.ts";
import { refuse } from "./refusal.ts";
import { greatest, least, meanSum, type Sum, sumsOf } from "./summed-series.ts";
import { fullSpan } from "./times.ts";
import { isUnseen } from "./unseen.ts";
import { type Grammar, has, listOf, readWords } from "./words.ts";

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

interface Used {
  readonly job: Allocation;
  /** By node. */
  readonly memory: readonly MetricSeries[];
  /** Since it began: seconds of processors, bytes read and written. */
  readonly cpu: readonly Sum[];
  readonly read: readonly Sum[];
  readonly written: readonly Sum[];
}

const field = (name: string, width: number, value: RecordField<Used>["value"] = () => ""): RecordField<Used> => ({
  name,
  width,
  value,
});

const TRES = ["Ave", "Max", "MaxNode", "MaxTask", "Min", "MinNode", "MinTask", "Tot"];

/** Slurm's order and widths. */
const FIELDS: readonly RecordField<Used>[] = [
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
  // Not measured; there so that a table has all of its columns.
  ...["In", "Out"]
    .flatMap((way) => TRES.map((what) => `TRESUsage${way}${what}`))
    .map((name) => field(name, name.length)),
];
const MORE: readonly RecordField<Used>[] = [
  field("Nodelist", 20, ({ job }) => compressHosts(job.nodes ?? [])),
  field("Pids", 20),
  field("ConsumedEnergyRaw", 17),
];

/** As long as a leader remembers. */
const HOUR_SECONDS = 3_600;

export const command: SlurmCommand = {
  help: "Usage: sstat [-n] [-p|-P] [-j ID,...] [-o FIELD[%WIDTH],...]",
  run: async (desk, argv) => {
    const words = readWords(GRAMMAR, argv);
    const all = [...FIELDS, ...MORE];
    if (has(words, "helpformat")) return print(all.map(({ name }) => name).join(" ")) ?? 0;
    const fields = chosenFields(
      "sstat",
      words,
      all,
      FIELDS.map(({ name }) => name),
    );
    const ids = [...(listOf(words, "jobs") ?? []), ...words.operands.flatMap((word) => word.split(","))];
    if (ids.length === 0) throw refuse("sstat", "You didn't give me any jobs to stat.");
    const used: Used[] = [];
    const cores = fields.some(({ name }) => name.includes("CPU")) ? await nodesById(desk) : new Map<string, Node>();
    for (const id of ids) used.push(...(await usedBy(desk, id.replace(/\..*$/, ""), cores)));
    printRecords(words, fields, used);
    return 0;
  },
};

/** None: it does not run, which Slurm tells and goes on. */
async function usedBy({ client }: Desk, id: string, nodes: ReadonlyMap<string, Node>): Promise<readonly Used[]> {
  const job = await client.get(id).catch(ifUnknown);
  if (job === null || job.group !== undefined || !RUNS.has(job.state)) {
    complain(`sstat: error: couldn't get steps for job ${id}`);
    return [];
  }
  const answer = await client.metrics(id, {
    mode: "per_node",
    metrics: ["memory_used", "cpu_utilization", "io_read_bytes", "io_write_bytes"],
    duration_seconds: HOUR_SECONDS,
  });
  if (answer.unavailable_reason) complain(`sstat: job ${id}: ${answer.unavailable_reason}`);
  const of = (wanted: string) => (answer.series ?? []).filter(({ metric }) => metric === wanted);
  const coresOn = (node: string): number => coresOf({ ...job, nodes: [node] }, nodes) ?? 0;
  return [
    {
      job,
      memory: of("memory_used"),
      // In percent of the cores it has there.
      cpu: sumsOf(job, of("cpu_utilization"), (node) => coresOn(node) / 100),
      read: sumsOf(job, of("io_read_bytes")),
      written: sumsOf(job, of("io_write_bytes")),
    },
  ];
}

const RUNS = new Set<string>(["running", "checkpointing"]);

function ifUnknown(error: unknown): null {
  if (isUnseen(error)) return null;
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
