// Finds the candidates of a request: the nodes that satisfy its hard constraints, by the predicate that `apply` uses too,
// evaluated once per kind of hardware. Whether a node is free does not matter here; an unusable node (drained, down) is no
// candidate. Requests for the same nodes share one match.

import { type Constraints, fits, type NodeId, type VClusterId } from "@lattice/core";
import type { Machine } from "../machine/machine.ts";
import { createMatch, findHardware, type Match, type MatchingHardware } from "../machine/match.ts";
import { matchKey } from "./constraints.ts";

/** Returns the match of a request that may also borrow nodes from these vClusters. */
export function matchFor(
  machine: Machine,
  constraints: Constraints,
  borrowsFrom: readonly VClusterId[] = NO_LENDERS,
): Match {
  const ownKey = keys.get(constraints) ?? matchKey(constraints);
  keys.set(constraints, ownKey);
  const key = borrowsFrom.length === 0 ? ownKey : `${borrowsFrom.join(" ")}|${ownKey}`;
  const known = machine.matches.get(key);
  if (known !== undefined) return known;
  const match = findCandidates(machine, constraints, borrowsFrom);
  machine.matches.set(key, match);
  return match;
}

/** Records outlive cycles, and so do their keys. */
const keys = new WeakMap<Constraints, string>();

const NO_LENDERS: readonly VClusterId[] = [];

function findCandidates(machine: Machine, constraints: Constraints, borrowsFrom: readonly VClusterId[]): Match {
  const byHardware = { ...constraints, excludedNodes: [] };
  const kinds = Uint8Array.from(machine.kinds, (kind) =>
    (kind.lender === undefined || borrowsFrom.includes(kind.lender)) && fits(byHardware, kind.id, kind) ? 1 : 0,
  );
  const hardware = sharedHardware(machine, kinds);
  const excluded = named(machine, kinds, constraints.excludedNodes);
  const required = requiredAmong(machine, kinds, constraints.requiredNodes, excluded);
  return createMatch(hardware, machine.cells, { excluded, required });
}

function sharedHardware(machine: Machine, kinds: Uint8Array): MatchingHardware {
  const key = kinds.join("");
  const known = machine.matchingHardware.get(key);
  if (known !== undefined) return known;
  const hardware = findHardware(machine.cells, machine.groups.length, kinds);
  machine.matchingHardware.set(key, hardware);
  return hardware;
}

/** Numbers of the named nodes that are usable and match by hardware. */
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
