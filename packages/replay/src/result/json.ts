// Writes and reads the summary as JSON, for programs and comparisons. Figures are rounded, so that equal replays give
// equal bytes on every machine.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BadInput } from "../bad-input.ts";
import type { Figures } from "./figures.ts";
import type { Summary } from "./summary.ts";

export const SUMMARY_FILE = "summary.json";

export function summaryJson(summary: Summary): string {
  const { wait, droppedBecause, timeline } = summary;
  const fields = {
    name: summary.name,
    policy: summary.policy,
    perfect: summary.perfect,
    nodes: summary.nodes,
    gpus: summary.gpus,
    jobs: summary.jobs,
    dropped: summary.dropped,
    dropped_because: {
      no_size: droppedBecause.noSize,
      no_run_time: droppedBecause.noRunTime,
      too_large: droppedBecause.tooLarge,
    },
    makespan_seconds: rounded(summary.makespanSeconds),
    utilisation: rounded(summary.utilisation, 6),
    wait_seconds: {
      mean: rounded(wait.mean),
      median: rounded(wait.median),
      p95: rounded(wait.p95),
      p99: rounded(wait.p99),
      max: rounded(wait.max),
    },
    mean_bounded_slowdown: rounded(summary.meanBoundedSlowdown, 6),
    jain_slowdown: rounded(summary.jainSlowdown, 6),
    jain_share: rounded(summary.jainShare, 6),
    share_deviation: rounded(summary.shareDeviation, 6),
    backfilled: summary.backfilled,
    preemptions: summary.preemptions,
    reserved: summary.reserved,
    started_late: summary.late,
    wait_bins: summary.waits,
    users: summary.users.map(figuresFields),
    tenants: summary.tenants.map((tenant) => ({
      ...figuresFields(tenant),
      got_share: rounded(tenant.got, 6),
      due_share: rounded(tenant.due, 6),
    })),
    timeline: {
      begin: rounded(timeline.begin),
      step_seconds: rounded(timeline.stepSeconds, 6),
      used: timeline.used.map((used) => rounded(used, 4)),
    },
  };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

const figuresFields = ({ name, jobs, workShare, meanWaitSeconds, meanBoundedSlowdown }: Figures) => ({
  name,
  jobs,
  work_share: rounded(workShare, 6),
  mean_wait_seconds: rounded(meanWaitSeconds),
  mean_bounded_slowdown: rounded(meanBoundedSlowdown, 6),
});

type Fields = Readonly<Record<string, unknown>>;

/** Returns the summary of an earlier replay. */
export function readSummary(folder: string): Summary {
  const file = join(folder, SUMMARY_FILE);
  try {
    return summaryOf(part(JSON.parse(readFileSync(file, "utf8"))));
  } catch (error) {
    if (error instanceof Error && "syscall" in error) throw error;
    throw new BadInput(file, null, "is not a summary that rm-replay wrote");
  }
}

function summaryOf(fields: Fields): Summary {
  const because = part(fields.dropped_because);
  const wait = part(fields.wait_seconds);
  const timeline = part(fields.timeline);
  return {
    name: text(fields.name),
    policy: text(fields.policy),
    perfect: fields.perfect === true,
    nodes: number(fields.nodes),
    gpus: number(fields.gpus),
    jobs: number(fields.jobs),
    dropped: number(fields.dropped),
    droppedBecause: {
      noSize: number(because.no_size),
      noRunTime: number(because.no_run_time),
      tooLarge: number(because.too_large),
    },
    makespanSeconds: number(fields.makespan_seconds),
    utilisation: number(fields.utilisation),
    wait: {
      mean: number(wait.mean),
      median: number(wait.median),
      p95: number(wait.p95),
      p99: number(wait.p99),
      max: number(wait.max),
    },
    meanBoundedSlowdown: number(fields.mean_bounded_slowdown),
    jainSlowdown: number(fields.jain_slowdown),
    jainShare: number(fields.jain_share),
    shareDeviation: number(fields.share_deviation),
    backfilled: number(fields.backfilled),
    preemptions: number(fields.preemptions),
    reserved: number(fields.reserved),
    late: number(fields.started_late),
    timeline: {
      begin: number(timeline.begin),
      stepSeconds: number(timeline.step_seconds),
      used: list(timeline.used).map(number),
    },
    waits: list(fields.wait_bins)
      .map(part)
      .map((bin) => ({ label: text(bin.label), jobs: number(bin.jobs) })),
    users: list(fields.users).map(part).map(figuresIn),
    tenants: list(fields.tenants)
      .map(part)
      .map((tenant) => ({ ...figuresIn(tenant), got: number(tenant.got_share), due: number(tenant.due_share) })),
  };
}

const figuresIn = (fields: Fields): Figures => ({
  name: text(fields.name),
  jobs: number(fields.jobs),
  workShare: number(fields.work_share),
  meanWaitSeconds: number(fields.mean_wait_seconds),
  meanBoundedSlowdown: number(fields.mean_bounded_slowdown),
});

function part(value: unknown): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new TypeError("not an object");
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError("not a list");
}

function number(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError("not a number");
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError("not a text");
}

export const rounded = (value: number, digits = 3): number => Number(value.toFixed(digits));
