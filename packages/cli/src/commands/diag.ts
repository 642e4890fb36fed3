// `lattice diag ID`: diagnostics of the network, storage, GPUs and nodes of an allocation, and what is not measured.

import type { Diagnostics } from "@lattice/sdk";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { workToRead } from "../names/work-ids.ts";
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
    .action(async (word: string, flags: DiagFlags) => {
      const context = await createContext(command);
      const { client, print } = context;
      const id = await workToRead(context, word);
      const one = flags.network === flags.storage ? undefined : flags.network === true ? "network" : "storage";
      const found = await client.diagnostics(id, one);
      if (print.structured) return print.document(found);
      print.lines(diagLines(found).map(clean));
      noteUnmeasured(print, found);
    });
}

function diagLines({ network, storage, gpus, nodes = [] }: Diagnostics): readonly string[] {
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
    if ((storage.mounts ?? []).length === 0) lines.push("  No mounts.");
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
  const heartbeat =
    node.last_heartbeat === undefined ? "no heartbeat yet" : `last heartbeat ${localTime(node.last_heartbeat)}`;
  const link = node.connected === true ? heartbeat : `not connected, ${heartbeat}`;
  const progress = [node.progress, node.message].filter((part) => part !== undefined && part !== "").join(": ");
  return `  ${node.node}:  ${node.state ?? "unknown"}, ${link}${progress === "" ? "" : `, ${progress}`}`;
}

/** Prints one note per reason, with the values that are missing for it. */
function noteUnmeasured(print: Printer, { unmeasured = [] }: Diagnostics): void {
  const byReason = new Map<string, string[]>();
  for (const { metric, reason = "" } of unmeasured) byReason.set(reason, [...(byReason.get(reason) ?? []), metric]);
  for (const [reason, metrics] of byReason) print.note(`Not shown: ${metrics.join(", ")}. ${reason}`);
}
