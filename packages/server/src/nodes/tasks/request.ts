// Checks a request against the allocation: returns the order for its agents, or throws a refusal. Reads the view,
// changes nothing.

import { create } from "@bufbuild/protobuf";
import { type Allocation, isActive, type NodeId, type PlacedPhase, type View } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import { type Layout, type LayoutNode, layoutTasks, type NodeShare } from "./layout.ts";

/** Without the fields that differ between nodes. */
export interface LaunchPlan {
  readonly shares: readonly NodeShare[];
  readonly order: Omit<pb.StartTasks, "$typeName" | "$unknown" | "launchId" | "nodeIndex">;
}

const MAX_ARGUMENTS = 4_096;
/** Below the kernel's limit for arguments and environment together. */
const MAX_BYTES = 1024 * 1024;
const MAX_FENCE_TIMEOUT_SECONDS = 86_400;

export function planLaunch(view: View, allocation: Allocation, request: pb.LaunchTasksRequest): LaunchPlan {
  checkRequest(request);
  const phase = placed(allocation);
  const nodes = nodesOf(phase, request.nodes);
  for (const node of nodes) checkRunning(allocation, phase, node);
  const layout = layoutTasks(
    nodes.map((node): LayoutNode => ({ node, cores: view.node(node)?.capabilities.cpuCores ?? 1 })),
    {
      tasks: request.tasks ?? null,
      tasksPerNode: request.tasksPerNode ?? null,
      submitted: allocation.spec.resources.tasksPerNode,
    },
  );
  const shares = sharesOf(layout);
  return {
    shares,
    order: {
      allocationId: allocation.id,
      attempt: allocation.attempt,
      command: request.command,
      variables: request.variables,
      workdir: request.workdir,
      pmi: request.pmi === pb.PmiMode.UNSPECIFIED ? pb.PmiMode.PMI2 : request.pmi,
      layout: shares.map((share) => create(pb.NodeTasksSchema, share)),
      pty: request.pty,
      input: request.input,
      rows: request.rows,
      columns: request.columns,
      fenceTimeoutSeconds: request.fenceTimeoutSeconds ?? 0,
    },
  };
}

function checkRequest({ command, variables, workdir, pmi, fenceTimeoutSeconds }: pb.LaunchTasksRequest): void {
  if (command.length === 0 || command[0] === "")
    throw invalid("command", "is missing", "Name the program that each task runs.");
  if (command.length > MAX_ARGUMENTS) throw invalid("command", `has ${command.length} words; at most ${MAX_ARGUMENTS}`);
  const texts = [...command, workdir, ...Object.entries(variables).flat()];
  if (texts.some((text) => text.includes("\0"))) throw invalid("command", "contains a NUL character");
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  if (bytes > MAX_BYTES)
    throw invalid("command", `is ${bytes} characters long with its variables; at most ${MAX_BYTES}`);
  const badName = Object.keys(variables).find((name) => !/^[^=\s]+$/.test(name));
  if (badName !== undefined) throw invalid("variables", `"${badName}" is not a name of a variable`);
  if (workdir !== "" && !workdir.startsWith("/")) throw invalid("workdir", "must be an absolute path");
  if (pmi < pb.PmiMode.UNSPECIFIED || pmi > pb.PmiMode.NONE)
    throw invalid("pmi", `${pmi} is not a mode`, "The modes are pmi2, pmix and none.");
  if (fenceTimeoutSeconds === 0 || (fenceTimeoutSeconds ?? 0) > MAX_FENCE_TIMEOUT_SECONDS)
    throw invalid("fence_timeout_seconds", `must be from 1 to ${MAX_FENCE_TIMEOUT_SECONDS}`);
}

function placed(allocation: Allocation): PlacedPhase {
  if (isActive(allocation.phase)) return allocation.phase;
  throw notRunning(allocation, `Allocation ${allocation.id} is ${allocation.phase.kind}, not running.`);
}

function nodesOf(phase: PlacedPhase, named: readonly string[]): readonly NodeId[] {
  const foreign = named.find((name) => !phase.nodes.some((id) => id === name));
  if (foreign !== undefined)
    throw invalid(
      "nodes",
      `"${foreign}" is not a node of the allocation`,
      `Its nodes are ${phase.nodes.slice(0, 10).join(", ")}.`,
    );
  return named.length === 0 ? phase.nodes : phase.nodes.filter((node) => named.includes(node));
}

function checkRunning(allocation: Allocation, phase: PlacedPhase, node: NodeId): void {
  const state = phase.progress[phase.nodes.indexOf(node)]?.state;
  if (state === "running") return;
  const how = state === "completed" || state === "failed" ? "has ended" : "has not started";
  throw notRunning(allocation, `Its part on node ${node} ${how}, so no task can be started there.`);
}

const notRunning = (allocation: Allocation, detail: string): ProblemError =>
  new ProblemError("illegal_transition", {
    detail,
    hint: `Tasks are started in a running allocation: see \`lattice status ${allocation.id}\`.`,
  });

function sharesOf(layout: Layout): readonly NodeShare[] {
  if (layout.kind === "layout") return layout.shares;
  throw invalid(layout.field, layout.detail, layout.hint);
}
