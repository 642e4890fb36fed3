// Step 2: find candidates. Which nodes satisfy an allocation's hard constraints, by the one
// predicate that `apply` uses too, asked once per kind of hardware. Free or busy plays no part here;
// an unusable node (drained, down) is no candidate. Allocations that ask for the same share one answer.

import { type Constraints, fits, type NodeId, type VClusterId } from "@lattice/core";
import type { Machine } from "./machine/machine.ts";
import { type Hardware, hardwareOf, type Match, matchOf } from "./machine/match.ts";

/** `from`: vClusters whose nodes it may borrow. */
export function candidates(machine: Machine, constraints: Constraints, from: readonly VClusterId[] = NOBODY): Match {
  const plain = keys.get(constraints) ?? constraintKey(constraints);
  keys.set(constraints, plain);
  const key = from.length === 0 ? plain : `${from.join(" ")}|${plain}`;
  const known = machine.matches.get(key);
  if (known !== undefined) return known;
  const match = findCandidates(machine, constraints, from);
  machine.matches.set(key, match);
  return match;
}

/** Records outlive cycles, and so do their keys. */
const keys = new WeakMap<Constraints, string>();

const NOBODY: readonly VClusterId[] = [];

function findCandidates(machine: Machine, constraints: Constraints, from: readonly VClusterId[]): Match {
  const byHardware = { ...constraints, excludedNodes: [] };
  const kinds = Uint8Array.from(machine.kinds, (kind) =>
    (kind.lender === undefined || from.includes(kind.lender)) && fits(byHardware, kind.id, kind) ? 1 : 0,
  );
  const hardware = sharedHardware(machine, kinds);
  const excluded = named(machine, kinds, constraints.excludedNodes);
  const required = requiredAmong(machine, kinds, constraints.requiredNodes, excluded);
  return matchOf(hardware, machine.cells, { excluded, required });
}

function sharedHardware(machine: Machine, kinds: Uint8Array): Hardware {
  const key = kinds.join("");
  const known = machine.hardware.get(key);
  if (known !== undefined) return known;
  const hardware = hardwareOf(machine.cells, machine.groups.length, kinds);
  machine.hardware.set(key, hardware);
  return hardware;
}

/** Numbers of the usable nodes of fitting hardware among those named. */
function named(machine: Machine, kinds: Uint8Array, ids: readonly NodeId[]): Set<number> {
  const found = new Set<number>();
  for (const id of ids) {
    const index = machine.indexOf.get(id);
    if (index !== undefined && isMatching(machine, kinds, index)) found.add(index);
  }
  return found;
}

function requiredAmong(
  machine: Machine,
  kinds: Uint8Array,
  ids: readonly NodeId[],
  excluded: ReadonlySet<number>,
): readonly number[] | null {
  if (ids.length === 0) return NONE;
  const required = named(machine, kinds, ids);
  if (required.size < new Set(ids).size) return null;
  for (const node of required) if (excluded.has(node)) return null;
  return [...required].sort((a, b) => a - b);
}

const NONE: readonly number[] = [];

const isMatching = ({ cells }: Machine, kinds: Uint8Array, node: number): boolean => {
  const cell = cells.ofNode[node] as number;
  return cell >= 0 && kinds[cells.kindOf[cell] as number] === 1;
};

function constraintKey(c: Constraints): string {
  const plain = `${c.gpuType}|${c.gpuCount}|${c.memoryBytes}|${c.cpuCores}`;
  const flags = (c.requireUnifiedMemory === true ? 1 : 0) + (c.allowCxlMemory === true ? 2 : 0);
  if (flags + c.features.length + c.requiredNodes.length + c.excludedNodes.length === 0) return plain;
  return `${plain}|${flags}|${JSON.stringify([c.features, c.requiredNodes, c.excludedNodes])}`;
}
