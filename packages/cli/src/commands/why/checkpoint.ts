// The lines of `lattice why --checkpoint`: the broker's decision, the last checkpoint, and the figures behind it.

import type { CheckpointDecision, CheckpointStatus } from "@lattice/sdk";
import { pad } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";

const VERDICTS: Readonly<Record<string, string>> = {
  take: "A checkpoint is taken now",
  wait: "No checkpoint is taken now",
  busy: "A checkpoint waits until the storage is less busy",
  storage_away: "No checkpoint can be taken: the storage is unavailable",
  not_asked: "Checkpoints are taken only before a preemption and on request (`lattice checkpoint`)",
  not_running: "A checkpoint cannot be taken in this state",
};

export function checkpointLines(status: CheckpointStatus): string[] {
  const { mode = "none", decision, last, failure, current } = status;
  if (mode === "none") return ["No checkpoints: it was submitted without --checkpoint."];
  const lines: string[] = [];
  if (decision === undefined) lines.push("The broker has not evaluated it since its start.");
  else lines.push(`${VERDICTS[decision.verdict ?? ""] ?? decision.verdict}: ${decision.reason}.`);
  if (current !== undefined) {
    const far = current.percent === undefined ? "" : `, ${current.percent} %`;
    const put = (current.deferred_seconds ?? 0) > 0 ? `, deferred by ${current.deferred_seconds} s` : "";
    const done = `${current.nodes_done ?? 0} of ${current.nodes ?? 0} nodes are done`;
    lines.push(`Checkpoint ${current.number} is being taken (${current.cause}): ${done}${far}${put}.`);
  }
  if (last !== undefined) {
    const size = `${((last.bytes ?? 0) / 1e6).toFixed(1)} MB in ${(last.seconds ?? 0).toFixed(1)} s`;
    lines.push(`Resumes from checkpoint ${last.number} of ${localTime(last.at)} (${size}).`);
  }
  if (failure !== undefined) lines.push(`Checkpoint ${failure.number} failed: ${failure.message}.`);
  return decision === undefined ? lines : [...lines, "", ...figures(decision)];
}

/** In device-seconds: seconds of one GPU, or of one node without GPUs. */
function figures(decision: CheckpointDecision): string[] {
  const rows: readonly (readonly [string, number | undefined, string])[] = [
    ["Value", decision.value, "device-seconds saved"],
    ["  recompute_saved", decision.recompute_saved, failureText(decision)],
    ["  preemptability", decision.preemptability, "pending work of higher classes"],
    ["  backlog_relief", decision.backlog_relief, "the queue"],
    ["  walltime_risk", decision.walltime_risk, "risk of losing work at the walltime"],
    ["Cost", decision.cost, "device-seconds"],
    ["  write_time", decision.write_time, `${((decision.size_bytes ?? 0) / 1e9).toFixed(2)} GB`],
    ["  compute_waste", decision.compute_waste, `${decision.devices ?? 0} devices idle meanwhile`],
    ["  storage_cost", decision.storage_cost, "storing it"],
  ];
  return rows.map(([name, value = 0, about]) => `${pad(name, 20)}${value.toFixed(1).padStart(12)}  ${about}`);
}

function failureText({ failure_probability = 0, since_last_seconds = 0 }: CheckpointDecision): string {
  const since =
    since_last_seconds < 60 ? `${since_last_seconds.toFixed(0)} s` : `${(since_last_seconds / 60).toFixed(0)} min`;
  return `${since} since the last, failure probability ${(failure_probability * 100).toFixed(3)} %`;
}
