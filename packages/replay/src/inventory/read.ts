// Reads a machine from a YAML inventory. Every group must be declared, so that a typing error does not create one.
//   groups: [g1, g2]
//   nodes:
//     - {prefix: gh, count: 64, groups: [g1, g2], gpu_type: GH200, gpu_count: 4, conformance: "a1"}

import { parseVClusterId, unchecked, type VClusterId } from "@lattice/core";
import { readYaml, type YamlValue } from "../yaml-file.ts";
import { BARE, type Inventory, type InventoryNode, nodeId } from "./inventory.ts";

/** Ten times the design limit of the scheduler. */
const MAX_INVENTORY_NODES = 1_000_000;

export function readInventory(file: string): Inventory {
  const whole = readYaml(file);
  const entries = new Map(whole.entries());
  const unknown = [...entries].find(([key]) => key !== "groups" && key !== "nodes");
  if (unknown !== undefined) throw unknown[1].bad('is not known here; an inventory holds "groups" and "nodes"');
  const groups = new Set(
    entries
      .get("groups")
      ?.list()
      .map((group) => group.text()) ?? [],
  );
  const blocks = entries.get("nodes")?.list() ?? [];
  const nodes = new Map<string, InventoryNode>();
  for (const block of blocks) {
    for (const node of nodesOf(block, groups)) {
      if (nodes.has(node.id)) throw block.bad(`makes a second node called ${node.id}`);
      nodes.set(node.id, node);
    }
    if (nodes.size > MAX_INVENTORY_NODES) throw block.bad(`makes more than ${MAX_INVENTORY_NODES} nodes`);
  }
  if (nodes.size === 0) throw whole.bad("names no nodes");
  return { nodes: [...nodes.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

interface Block {
  prefix: string;
  count: number;
  groups: readonly string[];
  node: Omit<InventoryNode, "id" | "group">;
}

/** Returns the nodes of one block; over several groups they are dealt out in equal runs. */
function nodesOf(block: YamlValue, groups: ReadonlySet<string>): InventoryNode[] {
  const read: Block = { prefix: "n", count: 1, groups: ["g1"], node: BARE };
  for (const [key, value] of block.entries()) readField(read, key, value, groups);
  const digits = String(read.count).length;
  return Array.from({ length: read.count }, (_, i) => ({
    ...read.node,
    id: nodeId(read.prefix, i + 1, digits),
    group: unchecked.group(read.groups[Math.floor((i * read.groups.length) / read.count)] ?? "g1"),
  }));
}

function readField(block: Block, key: string, value: YamlValue, groups: ReadonlySet<string>): void {
  const set = (change: Partial<Block["node"]>): void => {
    block.node = { ...block.node, ...change };
  };
  switch (key) {
    case "prefix":
      block.prefix = nodePrefix(value);
      return;
    case "count":
      block.count = whole(value, 1);
      return;
    case "group":
      block.groups = [groupName(value, groups)];
      return;
    case "groups":
      block.groups = value.list().map((group) => groupName(group, groups));
      if (block.groups.length === 0) throw value.bad("is empty");
      return;
    case "conformance":
      set({ conformance: value.text() });
      return;
    case "cpu_cores":
      set({ cpuCores: whole(value, 0) });
      return;
    case "memory_gb":
      set({ memoryBytes: Math.round(amount(value) * 2 ** 30) });
      return;
    case "gpu_type":
      set({ gpuType: value.text() });
      return;
    case "gpu_count":
      set({ gpuCount: whole(value, 0) });
      return;
    case "features":
      set({ features: value.list().map((feature) => feature.text()) });
      return;
    case "vcluster":
      set({ homeVCluster: vclusterName(value) });
      return;
    default:
      throw value.bad(`is not known here; a block of nodes holds ${KEYS.join(", ")}`);
  }
}

const KEYS = [
  "prefix",
  "count",
  "group",
  "groups",
  "conformance",
  "cpu_cores",
  "memory_gb",
  "gpu_type",
  "gpu_count",
  "features",
  "vcluster",
] as const;

function groupName(value: YamlValue, groups: ReadonlySet<string>): string {
  const name = value.text();
  if (groups.has(name)) return name;
  const known = groups.size === 0 ? 'none is declared under "groups"' : `declared are ${[...groups].join(", ")}`;
  throw value.bad(`names the unknown group "${name}"; ${known}`);
}

function nodePrefix(value: YamlValue): string {
  const prefix = value.text();
  if (/^[a-zA-Z][a-zA-Z0-9_.-]{0,40}$/.test(prefix)) return prefix;
  throw value.bad("must begin with a letter and hold letters, digits, dots, dashes and underscores");
}

function vclusterName(value: YamlValue): VClusterId {
  const name = parseVClusterId(value.text());
  if (name === null) throw value.bad("is no name for a vCluster");
  return name;
}

function whole(value: YamlValue, least: number): number {
  const number = value.number();
  if (Number.isInteger(number) && number >= least && number <= MAX_INVENTORY_NODES) return number;
  throw value.bad(`must be a whole number from ${least} to ${MAX_INVENTORY_NODES}`);
}

function amount(value: YamlValue): number {
  const number = value.number();
  if (Number.isFinite(number) && number >= 0) return number;
  throw value.bad("must be a number from 0");
}
