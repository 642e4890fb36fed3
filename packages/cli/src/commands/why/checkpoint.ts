// What the checkpoint broker thinks of an allocation, and what there is to go on from, line by line.

import type { CheckpointJudgement, CheckpointStatus } from "@lattice/sdk";
import { pad } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";

const VERDICTS: Readonly<Record<string, string>> = {
  take: "It is asked for a checkpoint now",
  wait: "No checkpoint is taken now",
  busy: "It is to take a checkpoint as soon as the storage has room",
  storage_away: "No checkpoint can be taken: the storage is away",
  not_asked: "It is asked only before it is stopped, and by you (`lattice checkpoint`)",
  not_running: "It is not at a point where one could be taken",
};

export function checkpointLines(status: CheckpointStatus): string[] {
  const { mode = "none", judgement, last, failure, current } = status;
  if (mode === "none") return ["It takes no checkpoints: it was submitted without --checkpoint."];
  const lines: string[] = [];
  if (judgement === undefined) lines.push("The broker has not looked at it since it started.");
  else lines.push(`${VERDICTS[judgement.verdict ?? ""] ?? judgement.verdict}: ${judgement.reason}.`);
  if (current !== undefined) {
    const far = current.percent === undefined ? "" : `, ${current.percent} %`;
    const put = (current.deferred_seconds ?? 0) > 0 ? `, put off by ${current.deferred_seconds} s` : "";
    const done = `${current.nodes_done ?? 0} of ${current.nodes ?? 0} nodes are done`;
    lines.push(`Checkpoint ${current.number} is being taken (${current.cause}): ${done}${far}${put}.`);
  }
  if (last !== undefined) {
    const size = `${((last.bytes ?? 0) / 1e6).toFixed(1)} MB in ${(last.seconds ?? 0).toFixed(1)} s`;
    lines.push(`Goes on from checkpoint ${last.number} of ${localTime(last.at)} (${size}).`);
  }
  if (failure !== undefined) lines.push(`Checkpoint ${failure.number} failed: ${failure.message}.`);
  return judgement === undefined ? lines : [...lines, "", ...figures(judgement)];
}

/** In seconds of one GPU, or of one node without. */
function figures(judgement: CheckpointJudgement): string[] {
  const rows: readonly (readonly [string, number | undefined, string])[] = [
    ["Value", judgement.value, "device-seconds that it would save"],
    ["  recompute_saved", judgement.recompute_saved, failureText(judgement)],
    ["  preemptability", judgement.preemptability, "work of higher classes that waits"],
    ["  backlog_relief", judgement.backlog_relief, "the queue"],
    ["  walltime_risk", judgement.walltime_risk, "what the walltime would take"],
    ["Cost", judgement.cost, "device-seconds"],
    ["  write_time", judgement.write_time, `${((judgement.size_bytes ?? 0) / 1e9).toFixed(2)} GB`],
    ["  compute_waste", judgement.compute_waste, `${judgement.devices ?? 0} devices that wait meanwhile`],
    ["  storage_cost", judgement.storage_cost, "keeping it"],
  ];
  return rows.map(([name, value = 0, about]) => `${pad(name, 20)}${value.toFixed(1).padStart(12)}  ${about}`);
}

function failureText({ failure_probability = 0, since_last_seconds = 0 }: CheckpointJudgement): string {
  const since =
    since_last_seconds < 60 ? `${since_last_seconds.toFixed(0)} s` : `${(since_last_seconds / 60).toFixed(0)} min`;
  return `${since} since the last, failure ${(failure_probability * 100).toFixed(3)} %`;
}
