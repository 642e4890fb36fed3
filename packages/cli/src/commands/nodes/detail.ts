// Shows one node as `key: value` lines.

import type { Node } from "@lattice/sdk";
import { paintState } from "../../output/paint.ts";
import type { Printer } from "../../output/printer.ts";
import { clean, pad } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";
import { allocationsText, gpuText, memoryText, stateText } from "./table.ts";

export function showNode(print: Printer, node: Node): void {
  const { capabilities } = node;
  const lines: (readonly [string, string | undefined])[] = [
    ["Node", node.id],
    ["State", stateText(node)],
    ["Since", localTime(node.since)],
    ["Reason", node.reason],
    ["Group", node.group],
    ["Home vCluster", node.home_vcluster],
    ["Current vCluster", node.current_vcluster],
    ["Conformance", node.conformance],
    ["Warning", node.hardware_warning],
    ["Allocations", allocationsText(node)],
    ["CPU cores", String(capabilities?.cpu_cores ?? 0)],
    ["Memory", memoryText(node)],
    ["GPUs", gpuText(node)],
    ["GPU memory", clearedText(node)],
    ["Features", (capabilities?.features ?? []).join(", ")],
    ["Host", capabilities?.hostname],
    ["Kernel", capabilities?.kernel],
    ["Isolation", capabilities?.isolation],
    ["Runtimes", (capabilities?.runtimes ?? []).join(", ")],
    ["Simulated", capabilities?.hollow === true ? "yes" : undefined],
    ["Agent", node.agent_version],
    ["Connected", node.connected === true ? "yes" : "no"],
    ["Last heartbeat", localTime(node.last_heartbeat)],
    ["Address", node.address],
  ];
  const present = lines.filter((line): line is readonly [string, string] => line[1] !== undefined && line[1] !== "");
  const width = Math.max(...present.map(([key]) => key.length)) + 2;
  for (const [key, value] of present) {
    const text = clean(value);
    print.line(pad(`${key}:`, width) + (key === "State" ? paintState(print.paint, node.state, text) : text));
  }
}

/** Whether GPU memory is cleared between users; `undefined` for a node without GPUs. */
function clearedText({ capabilities }: Node): string | undefined {
  if (capabilities === undefined || capabilities.gpu_count === 0 || capabilities.hollow) return undefined;
  const clears = capabilities.runtimes.find((name) => name.startsWith("gpu-clear:"));
  if (clears === undefined) return "not cleared between users";
  return `cleared between users (${clears.slice("gpu-clear:".length)})`;
}
