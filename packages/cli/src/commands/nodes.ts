// `lattice nodes`: lists nodes, or shows named nodes in detail.

import type { Node, NodeState } from "@lattice/sdk";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { forEachId } from "../output/for-each-id.ts";
import { expandHosts } from "../parse/hosts.ts";
import { NODE_STATES, parseStates } from "../parse/states.ts";
import { showNode } from "./nodes/detail.ts";
import { nodeColumns } from "./nodes/table.ts";

interface NodesFlags {
  readonly state?: readonly NodeState[];
  readonly group?: string;
}

export function define(command: Command): void {
  command
    .argument("[id...]", "nodes to show in detail, such as n1 or n[0-199]")
    .option("--state <states>", `only these states (${NODE_STATES.join(", ")})`, (text) =>
      parseStates(text, NODE_STATES),
    )
    .option("--group <name>", "only this group")
    .action(async (words: readonly string[], flags: NodesFlags) => {
      const context = await createContext(command);
      return words.length > 0 ? showNamedNodes(context, expandHosts(words)) : showNodes(context, flags);
    });
}

export async function showNamedNodes({ client, print, settings }: Context, ids: readonly string[]): Promise<void> {
  const { done: found, finish } = await forEachId(ids, (id) => client.nodes.get(id));
  const [first] = found;
  const only = ids.length === 1 ? first : undefined;
  if (print.structured) await print.document(only ?? { nodes: found });
  else if (settings.quiet) print.lines(found.map(({ id }) => id));
  else if (only !== undefined) showNode(print, only);
  else if (found.length > 0) print.table(nodeColumns(print.paint, settings.output === "wide"), found);
  finish();
}

export async function showNodes({ client, print, settings }: Context, flags: NodesFlags): Promise<void> {
  const rows: Node[] = [];
  const filter = {
    ...(flags.state === undefined ? {} : { state: flags.state }),
    ...(flags.group === undefined ? {} : { group: flags.group }),
    ...settings.named,
  };
  for await (const node of client.nodes.listAll(filter)) rows.push(node);
  if (print.structured) return print.document({ nodes: rows });
  if (settings.quiet) return print.lines(rows.map(({ id }) => id));
  print.table(nodeColumns(print.paint, settings.output === "wide"), rows);
  if (rows.length === 0) print.note("No nodes.");
}
