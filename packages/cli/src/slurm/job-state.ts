// Maps the state and pending reasons of an allocation to Slurm's names. Lattice's reasons are sentences; Slurm's are
// single words that scripts compare.

import type { Allocation } from "@lattice/sdk";

interface JobState {
  readonly short: string;
  readonly long: string;
}

const state = (short: string, long: string): JobState => ({ short, long });

export const JOB_STATES: readonly JobState[] = [
  state("PD", "PENDING"),
  state("CF", "CONFIGURING"),
  state("R", "RUNNING"),
  state("S", "SUSPENDED"),
  state("CG", "COMPLETING"),
  state("CD", "COMPLETED"),
  state("F", "FAILED"),
  state("TO", "TIMEOUT"),
  state("NF", "NODE_FAIL"),
  state("OOM", "OUT_OF_MEMORY"),
  state("PR", "PREEMPTED"),
  state("CA", "CANCELLED"),
];

const named = (long: string): JobState => JOB_STATES.find((one) => one.long === long) ?? state("F", "FAILED");

const FAILURES: Readonly<Record<string, string>> = {
  walltime_exceeded: "TIMEOUT",
  node_failure: "NODE_FAIL",
  lost: "NODE_FAIL",
  oom: "OUT_OF_MEMORY",
  preempted: "PREEMPTED",
};

export function jobState(allocation: Allocation): JobState {
  switch (allocation.state) {
    case "pending":
      return named("PENDING");
    case "staging":
      return named("CONFIGURING");
    case "running":
    case "checkpointing":
      return named("RUNNING");
    case "suspended":
      return named("SUSPENDED");
    case "completed":
      return named("COMPLETED");
    case "cancelled":
      return named("CANCELLED");
    case "failed":
      return named(FAILURES[allocation.reason ?? ""] ?? "FAILED");
  }
}

/** Finds a state by its short or long name, in any case. Returns null for an unknown name. */
export function findState(text: string): JobState | null {
  const upper = text.toUpperCase();
  return JOB_STATES.find(({ short, long }) => short === upper || long === upper) ?? null;
}

/** Slurm's reason by Lattice's reason code. */
const PENDING_REASONS: Readonly<Record<string, string>> = {
  dependency: "Dependency",
  held_by_user: "JobHeldUser",
  held_by_admin: "JobHeldAdmin",
  quota_nodes: "AssocGrpNodeLimit",
  quota_allocations: "AssocGrpJobsLimit",
  sensitive_pool: "Resources",
  power: "PowerNotAvail",
  storage: "Licenses",
  busy: "Resources",
  topology: "Resources",
  preempting: "Resources",
  no_matching_nodes: "ReqNodeNotAvail",
};

const LAUNCH_FAILURE = "JobLaunchFailure";

/** Returns one word, without brackets. */
export function jobReason(allocation: Allocation): string {
  if (allocation.state === "pending") return pendingReason(allocation);
  if (allocation.reason === "dependency_failed") return "DependencyNeverSatisfied";
  if (allocation.state !== "failed") return "None";
  if (allocation.reason === "exit_code" || allocation.reason === "element_failed") return "NonZeroExitCode";
  const long = jobState(allocation).long;
  if (long === "TIMEOUT") return "TimeLimit";
  if (long === "NODE_FAIL") return "NodeDown";
  if (long === "OUT_OF_MEMORY") return "OutOfMemory";
  return allocation.reason === "signal" ? "RaisedSignal" : LAUNCH_FAILURE;
}

function pendingReason({
  hold,
  unmet_dependencies: unmet = [],
  pending_reason_codes: [code] = [],
}: Allocation): string {
  if (hold !== undefined) return hold.kind === "admin" ? "JobHeldAdmin" : "JobHeldUser";
  if (unmet.length > 0) return "Dependency";
  if (code === undefined) return "None";
  return PENDING_REASONS[code] ?? "Priority";
}

/** Returns `exit code:signal`: `0:0`, `4:0`, `0:9`. */
export function exitText(allocation: Allocation): string {
  const { state, exit_code: code, started_at } = allocation;
  if (code === undefined) {
    if (state === "cancelled" && started_at) return "0:15";
    // Slurm's number for a program that could not be started.
    return jobReason(allocation) === LAUNCH_FAILURE ? "0:53" : "0:0";
  }
  return code > 128 && code < 192 ? `0:${code - 128}` : `${Math.max(0, code)}:0`;
}
