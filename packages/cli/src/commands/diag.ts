// `lattice diag ID`: what is known of the network, the storage, the GPUs and the nodes below an allocation, and what
// nobody measures.

import type { Diagnostics } from "@lattice/sdk";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import type { Printer } from "../output/printer.ts";
import { clean } from "../output/text.ts";
import { localTime } from "../output/time.ts";

interface DiagFlags {
  readonly network?: boolean;
  readonly storage?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<id>", "allocation")
    .option("--network", "only the network")
    .option("--storage", "only the storage")
    .action(async (id: string, flags: DiagFlags) => {
      const { client, print } = await createContext(command);
      const one = flags.network === flags.storage ? undefined : flags.network === true ? "network" : "storage";
      const found = await client.diagnostics(id, one);
      if (print.structured) return print.document(found);
      print.lines(diagLines(found).map(clean));
      noteUnmeasured(print, found);
    });
}

export function diagLines({ network, storage, gpus, nodes = [] }: Diagnostics): readonly string[] {
  const lines: string[] = [];
  if (network !== undefined) {
    const groups = network.groups ?? [];
    const names = groups.map(({ group }) => group).join(", ");
    lines.push("Network:", `  Group span:  ${network.group_span ?? 0}${names === "" ? "" : ` (${names})`}`);
    for (const { group, nodes: count = 0, congestion } of groups) {
      lines.push(`  ${group}:  ${count} nodes${congestion === undefined ? "" : `, congestion ${congestion}`}`);
    }
  }
  if (storage !== undefined) {
    lines.push("Storage:");
    for (const { target, source = "", access = "" } of storage.mounts ?? []) {
      lines.push(`  ${target}:  ${source}, ${access}`);
    }
    if ((storage.mounts ?? []).length === 0) lines.push("  No mounts of its own.");
    if (storage.bandwidth_limit !== undefined) {
      lines.push(
        `  Bandwidth:  ${storage.bandwidth_used ?? 0} of ${storage.bandwidth_limit} MB/s, of the whole cluster`,
      );
    }
  }
  if (gpus !== undefined && (gpus.count ?? 0) > 0) {
    lines.push("GPUs:", `  ${gpus.count}×${gpus.type || "GPU"}, ${gpus.linked ?? 0} linked`);
  }
  if (nodes.length > 0) lines.push("Nodes:", ...nodes.map(nodeLine));
  return lines;
}

function nodeLine(node: NonNullable<Diagnostics["nodes"]>[number]): string {
  const heard = node.last_heartbeat === undefined ? "never heard" : `heard ${localTime(node.last_heartbeat)}`;
  const link = node.connected === true ? heard : `not connected, ${heard}`;
  const progress = [node.progress, node.message].filter((part) => part !== undefined && part !== "").join(": ");
  return `  ${node.node}:  ${node.state ?? "unknown"}, ${link}${progress === "" ? "" : `, ${progress}`}`;
}

/** One remark for each reason, with what it keeps from being shown. */
function noteUnmeasured(print: Printer, { unmeasured = [] }: Diagnostics): void {
  const byReason = new Map<string, string[]>();
  for (const { what, reason = "" } of unmeasured) byReason.set(reason, [...(byReason.get(reason) ?? []), what]);
  for (const [reason, what] of byReason) print.note(`Not shown: ${what.join(", ")}. ${reason}`);
}
