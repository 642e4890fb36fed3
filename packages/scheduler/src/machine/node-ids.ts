// Node ids to node numbers and back. Lists of ids outlive cycles, so their numbers are remembered.

import type { NodeId } from "@lattice/core";
import type { NodeInput } from "../input/node-input.ts";
import type { Machine } from "./machine.ts";

/** Returns the numbers of the nodes that the machine has, ascending. */
export function nodeNumbersOf({ indexOf }: Pick<Machine, "indexOf">, ids: readonly NodeId[]): readonly number[] {
  const known = numbersByIds.get(ids);
  if (known?.indexOf === indexOf) return known.numbers;
  const numbers: number[] = [];
  for (const id of ids) {
    const number = indexOf.get(id);
    if (number !== undefined) numbers.push(number);
  }
  numbers.sort((a, b) => a - b);
  numbersByIds.set(ids, { indexOf, numbers });
  return numbers;
}

/** Returns the ids of these nodes; `nodeNumbersOf` will find the numbers without a search. */
export function nodeIdsOf({ indexOf, nodes }: Machine, numbers: readonly number[]): readonly NodeId[] {
  const ids: NodeId[] = [];
  for (let i = 0; i < numbers.length; i += 1) ids.push((nodes[numbers[i] as number] as NodeInput).id);
  numbersByIds.set(ids, { indexOf, numbers });
  return ids;
}

interface Known {
  readonly indexOf: Machine["indexOf"];
  readonly numbers: readonly number[];
}

const numbersByIds = new WeakMap<readonly NodeId[], Known>();
