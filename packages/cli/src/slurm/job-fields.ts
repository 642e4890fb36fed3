// The columns of squeue, by the letters of its format texts.

import { DEFAULT_QOS_CLASSES } from "@lattice/wire";
import type { Compat } from "./compat-file.ts";
import type { Fields } from "./format.ts";
import { compressHosts } from "./hostlist.ts";
import { jobReason, jobState } from "./job-state.ts";
import type { Job } from "./jobs.ts";
import { localTime, shortSpan } from "./times.ts";

export interface Surroundings {
  readonly compat: Compat;
  readonly now: number;
}

/** squeue's names for its columns, as the letters of the short form. */
export const LONG_NAMES: Readonly<Record<string, string>> = {
  jobid: "A",
  jobarrayid: "i",
  arrayjobid: "F",
  arraytaskid: "K",
  name: "j",
  username: "u",
  statecompact: "t",
  state: "T",
  timeused: "M",
  timelimit: "l",
  timeleft: "L",
  numnodes: "D",
  reasonlist: "R",
  reason: "r",
  partition: "P",
  account: "a",
  qos: "q",
  starttime: "S",
  endtime: "e",
  submittime: "V",
  nodelist: "N",
  numtasks: "n",
  workdir: "Z",
  dependency: "E",
  feature: "f",
  schednodes: "Y",
  batchhost: "B",
};

export function jobFields({ compat, now }: Surroundings): Fields<Job> {
  const nodes = ({ allocation }: Job): string => compressHosts(allocation.nodes ?? []);
  return {
    i: { header: "JOBID", value: ({ id }) => id },
    A: { header: "JOBID", value: ({ allocation }) => allocation.id },
    F: { header: "ARRAY_JOB_ID", value: ({ base }) => base },
    K: { header: "ARRAY_TASK_ID", value: ({ index }) => index?.replace(/^\[|\]$/g, "") ?? "N/A" },
    j: { header: "NAME", value: ({ allocation }) => allocation.spec?.name ?? "" },
    u: { header: "USER", value: ({ allocation }) => allocation.user ?? "" },
    t: { header: "ST", value: ({ allocation }) => jobState(allocation).short },
    T: { header: "STATE", value: ({ allocation }) => jobState(allocation).long },
    M: { header: "TIME", value: (job) => shortSpan(usedSeconds(job, now)) },
    l: { header: "TIME_LIMIT", value: limitText },
    L: { header: "TIME_LEFT", value: (job) => leftText(job, now) },
    D: { header: "NODES", value: (job) => `${nodeCount(job)}` },
    R: { header: "NODELIST(REASON)", value: (job) => nodes(job) || `(${reasonOf(job)})` },
    r: { header: "REASON", value: reasonOf },
    P: { header: "PARTITION", value: ({ allocation }) => compat.partitionOf(allocation.spec?.vcluster ?? "") },
    a: { header: "ACCOUNT", value: ({ allocation }) => compat.accountOf(allocation.spec?.tenant ?? "(null)") },
    q: { header: "QOS", value: ({ allocation }) => qosText(compat, allocation.spec?.lifecycle?.preemption_class) },
    S: { header: "START_TIME", value: startText },
    e: { header: "END_TIME", value: endText },
    V: { header: "SUBMIT_TIME", value: ({ allocation }) => localTime(allocation.submitted_at) || "N/A" },
    N: { header: "NODELIST", value: nodes },
    n: { header: "TASKS", value: (job) => `${taskCount(job)}` },
    Z: { header: "WORK_DIR", value: ({ allocation }) => allocation.spec?.environment?.workdir ?? "" },
    E: { header: "DEPENDENCY", value: dependencyText },
    f: {
      header: "FEATURES",
      value: ({ allocation }) => featureText(allocation.spec?.resources?.constraints?.features),
    },
    Y: { header: "SCHEDNODES", value: () => "(null)" },
    B: { header: "EXEC_HOST", value: ({ allocation }) => allocation.nodes?.[0] ?? "n/a" },
  };
}

const qosText = (compat: Compat, value: number | undefined): string =>
  compat.qosOf(value ?? DEFAULT_QOS_CLASSES.normal);

export const reasonOf = ({ allocation, heldByLimit }: Job): string =>
  heldByLimit ? "JobArrayTaskLimit" : jobReason(allocation);

export function usedSeconds({ allocation }: Job, now: number): number {
  const { started_at, ended_at, state } = allocation;
  if (started_at === undefined || state === "pending" || state === "staging") return 0;
  return ((ended_at === undefined ? now : Date.parse(ended_at)) - Date.parse(started_at)) / 1000;
}

export const limitSeconds = ({ allocation }: Job): number | null =>
  allocation.spec?.lifecycle?.walltime_seconds || null;

function limitText(job: Job): string {
  const seconds = limitSeconds(job);
  return seconds === null ? "UNLIMITED" : shortSpan(seconds);
}

function leftText(job: Job, now: number): string {
  const seconds = limitSeconds(job);
  return seconds === null ? "UNLIMITED" : shortSpan(seconds - usedSeconds(job, now));
}

/** What it has, or the least that it asks for. */
export function nodeCount({ allocation }: Job): number {
  if (allocation.nodes !== undefined && allocation.nodes.length > 0) return allocation.nodes.length;
  const asked = allocation.spec?.resources?.nodes;
  return typeof asked === "number" ? asked : (asked?.min ?? 1);
}

export const taskCount = (job: Job): number =>
  nodeCount(job) * Math.max(1, job.allocation.spec?.resources?.tasks_per_node ?? 1);

const startText = ({ allocation }: Job): string =>
  localTime(allocation.started_at ?? allocation.estimated_start) || "N/A";

function endText(job: Job): string {
  const { started_at, ended_at } = job.allocation;
  if (ended_at !== undefined) return localTime(ended_at);
  const limit = limitSeconds(job);
  if (started_at === undefined || limit === null) return "N/A";
  return localTime(new Date(Date.parse(started_at) + limit * 1000).toISOString());
}

const CONDITIONS: Readonly<Record<string, string>> = {
  success: "afterok",
  failure: "afternotok",
  any: "afterany",
  corresponding: "aftercorr",
};

export function dependencyText({ allocation }: Job): string {
  const unmet = allocation.unmet ?? [];
  if (unmet.length === 0) return "(null)";
  return unmet
    .map(({ ref, condition = "success" }) =>
      condition === "mutex" ? "singleton(unfulfilled)" : `${CONDITIONS[condition] ?? condition}:${ref}(unfulfilled)`,
    )
    .join(",");
}

export const featureText = (features: readonly string[] | undefined): string =>
  features === undefined || features.length === 0 ? "(null)" : features.join(",");
