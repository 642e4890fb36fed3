// Shows one allocation as `key: value` lines: its request, its state, and why it is pending or how it ended.

import type { Allocation } from "@lattice/sdk";
import { paintState } from "../../output/paint.ts";
import type { Printer } from "../../output/printer.ts";
import { capitalise, clean, oneLine, pad } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";
import { groupLine } from "./group.ts";
import { elapsed, nodeCount, walltime } from "./table.ts";

export function showDetail(print: Printer, allocation: Allocation, now: number): void {
  const lines = detailLines(allocation, now);
  const width = Math.max(...lines.map(([key]) => key.length)) + 2;
  for (const [key, value] of lines) {
    const text = clean(value);
    const shown = key === "State" ? paintState(print.paint, allocation.state, text) : text;
    print.line(pad(key === "" ? "" : `${key}:`, width) + shown);
  }
}

function detailLines(allocation: Allocation, now: number): readonly (readonly [string, string])[] {
  const { spec = {}, nodes = [] } = allocation;
  const reasons = allocation.pending_reasons ?? [];
  const exit = allocation.exit_code;
  const tags = Object.entries(spec.tags ?? {}).map(([key, value]) => `${key}=${value}`);
  const lines: (readonly [string, string | undefined])[] = [
    ["ID", allocation.id],
    ["Name", spec.name],
    ["State", capitalise(allocation.state)],
    ...reasons.map((reason, i) => [i === 0 ? "Waiting for" : "", reason] as const),
    ["Estimated start", startText(allocation)],
    ["Reason", allocation.reason],
    ["Message", allocation.message],
    ["Exit code", exit === undefined ? undefined : String(exit)],
    ["Elements", allocation.group === undefined ? undefined : groupLine(allocation.group)],
    ["After", after(allocation)],
    ["DAG", allocation.dag_id],
    ["User", allocation.user],
    ["Tenant", spec.tenant],
    ["Project", spec.project],
    ["vCluster", spec.vcluster],
    ["Command", commandText(allocation)],
    ["uenv", spec.environment?.uenv],
    ["View", spec.environment?.view],
    ["Tools", spec.environment?.tools_uenv],
    ["Image", spec.environment?.image],
    ["Working directory", spec.environment?.workdir],
    ["Nodes", nodes.length === 0 ? `${nodeCount(allocation)} requested` : `${nodes.length}: ${nodes.join(", ")}`],
    ["Scaling", scalingText(allocation)],
    [
      "Network",
      allocation.network === undefined ? undefined : `${allocation.network.domain} (VNI ${allocation.network.vni})`,
    ],
    ["Walltime", walltime(allocation)],
    ["Elapsed", elapsed(allocation, now)],
    ["Preemption class", text(spec.lifecycle?.preemption_class)],
    ["Requeue policy", spec.lifecycle?.requeue_policy],
    ["Attempt", attemptText(allocation)],
    ["Requeues", allocation.requeues === 0 ? undefined : text(allocation.requeues)],
    ["Preemptions", (allocation.preemptions ?? 0) === 0 ? undefined : text(allocation.preemptions)],
    ["Suspensions", (allocation.suspensions ?? 0) === 0 ? undefined : text(allocation.suspensions)],
    ["Checkpoint", checkpointText(allocation)],
    ["Backfilled", allocation.backfilled === true ? "yes" : undefined],
    ["Tags", tags.join(", ")],
    ["Submitted", localTime(allocation.submitted_at)],
    ["Started", localTime(allocation.started_at)],
    ["Ended", localTime(allocation.ended_at)],
    ...nodeProgress(allocation),
  ];
  return lines.flatMap(([key, value]) => (value === undefined || value === "" ? [] : [[key, value] as const]));
}

/** Distinguishes a reserved start from an estimate. */
function startText({ estimated_start, start_reserved }: Allocation): string | undefined {
  if (estimated_start === undefined) return undefined;
  return `${localTime(estimated_start)} (${start_reserved === true ? "reserved" : "not reserved, may move"})`;
}

/** Nodes that join a service get attempt numbers too, although nothing was restarted. */
function attemptText({ attempt = 0, nodes_joined: joined = 0, group }: Allocation): string | undefined {
  // Attempts belong to the elements of a group.
  if (group !== undefined) return undefined;
  if (joined === 0) return String(attempt);
  return `${attempt} (${joined} for ${joined === 1 ? "a node" : "nodes"} added while running)`;
}

/** Returns "1 to 5 nodes by cpu_utilization, target 0.8; 2 run the version before the update". */
function scalingText({ scaling }: Allocation): string | undefined {
  if (scaling === undefined) return undefined;
  const { min = 0, max = 0, metric = "", target = "", outdated_nodes = 0 } = scaling;
  const bounds = metric === "" ? `${min} nodes` : `${min} to ${max} nodes by ${metric}, target ${target}`;
  return outdated_nodes === 0 ? bounds : `${bounds}; ${outdated_nodes} run the version before the update`;
}

/** Describes the last complete checkpoint, the current one, and the last failure. */
function checkpointText({ checkpoint }: Allocation): string | undefined {
  if (checkpoint === undefined) return undefined;
  const { last, failure, current } = checkpoint;
  const parts = [
    last === undefined ? "" : `${last.number} complete since ${localTime(last.at)}`,
    current === undefined ? "" : `${current.number} being taken (${current.cause})`,
    failure === undefined ? "" : `${failure.number} failed: ${failure.message}`,
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** Returns "12:success, lock:mutex". */
const after = ({ spec }: Allocation): string | undefined =>
  spec?.depends_on?.map(({ ref, condition = "success" }) => `${ref}:${condition}`).join(", ");

const text = (value: number | undefined): string | undefined => (value === undefined ? undefined : String(value));

function commandText({ spec }: Allocation): string | undefined {
  if (spec?.entrypoint) return oneLine(spec.entrypoint);
  if (spec?.command !== undefined && spec.command.length > 0) return oneLine(spec.command.join(" "));
  if (spec?.script) return `script of ${spec.script.split("\n").length} lines`;
  return undefined;
}

/** Lists nodes only when one of them has a message or a non-zero exit code. */
function nodeProgress({ progress = [] }: Allocation): (readonly [string, string])[] {
  const notable = progress.filter(({ message, exit_code }) => (message ?? "") !== "" || (exit_code ?? 0) !== 0);
  if (notable.length === 0) return [];
  return progress.map(({ node, state, exit_code, message }, i) => {
    const exit = exit_code === undefined ? "" : `, exit code ${exit_code}`;
    const detail = message === undefined || message === "" ? "" : `, ${message}`;
    return [i === 0 ? "Per node" : "", `${node}: ${state ?? "unknown"}${exit}${detail}`] as const;
  });
}
