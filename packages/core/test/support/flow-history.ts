// Histories with dependencies, task groups and DAGs in them, made like the others: mostly sensible, now
// and then not.

import {
  type AllocationId,
  type Command,
  type DagId,
  type DependencyCondition,
  type ElementRange,
  rangeOfRuns,
  type State,
} from "@lattice/core";
import { cancel, cancelDag, hold, type MemberChange, submit, submitDag, submitGroup } from "./cluster.ts";
import { commandFor, type Dice, dice, pick, someId } from "./history.ts";

const CONDITIONS: readonly DependencyCondition[] = ["success", "success", "failure", "any", "corresponding"];

export function flowCommandFor(seed: number, state: State, past: readonly Command[]): Command {
  const roll = dice(seed ^ 0x5bd1e995);
  switch (roll(15)) {
    case 0:
    case 1:
      return submit({ ...size(roll), after: edges(roll, state) });
    case 2:
    case 3:
      return makeGroup(roll, state);
    case 4:
      return makeDag(roll);
    case 5:
      return roll(3) > 0 ? makeCancel(roll, state) : makeCancelDag(roll, state);
    case 6:
      return makeHold(roll, state);
    default:
      return commandFor(seed, state, past);
  }
}

const size = (roll: Dice): MemberChange => ({
  nodes: 1,
  tenant: roll(8) === 0 ? "art" : "physics",
  lifecycle: { requeuePolicy: pick(roll, ["never", "on_node_failure", "always"] as const) ?? "never", maxRequeue: 2 },
});

/** Mostly on something recent; sometimes on nothing that is there. */
function edges(roll: Dice, state: State): readonly string[] {
  return Array.from({ length: 1 + roll(3) }, (_, n) => {
    if (roll(5) === 0) return `m${roll(2)}${n}:mutex`;
    const condition = pick(roll, CONDITIONS) ?? "any";
    return `${anything(roll, state)}:${condition}`;
  });
}

function anything(roll: Dice, state: State): AllocationId {
  const group = pick(roll, [...state.groups()].slice(-3));
  if (group !== undefined && roll(3) > 0) {
    return roll(3) === 0 ? (`${group.id}_${group.range.start + roll(6)}` as AllocationId) : group.id;
  }
  const recent = pick(roll, [...state.allocations()].slice(-6));
  return recent === undefined || roll(12) === 0 ? someId(roll, state) : recent.id;
}

function makeGroup(roll: Dice, state: State): Command {
  const start = roll(3);
  const range = [start, roll(20) === 0 ? start - 1 : start + roll(6), roll(20) === 0 ? 0 : 1 + roll(2)] as const;
  const concurrency = roll(3) === 0 ? null : roll(15) === 0 ? 0 : 1 + roll(3);
  const after = roll(2) === 0 ? {} : { after: edges(roll, state) };
  const made = submitGroup(range, concurrency, { ...size(roll), tenant: "physics", ...after });
  if (made.kind !== "group.submit" || roll(3) > 0) return made;
  return { ...made, range: someList(roll) };
}

/** Two to four runs apart from each other; now and then out of order, or counted wrong. */
function someList(roll: Dice): ElementRange {
  let next = roll(3);
  const runs = Array.from({ length: 2 + roll(3) }, () => {
    const start = next;
    const end = start + roll(3);
    next = end + 1 + roll(3);
    return { start, end, step: 1 + roll(2) };
  });
  const range = rangeOfRuns(runs);
  if (roll(15) === 0) return { ...range, runs: (range.runs ?? []).toReversed() };
  return roll(15) === 0 ? { ...range, end: range.end + 1 } : range;
}

function makeDag(roll: Dice): Command {
  const names = ["a", "b", "c", "d", "e"].slice(0, roll(6));
  const members = names.map((name, n): readonly [string, MemberChange] => {
    // Now and then to a later one, to itself, or to an unknown name.
    const refs = roll(9) === 0 ? [...names, "unknown"] : names.slice(0, n);
    const after = Array.from({ length: refs.length === 0 ? 0 : roll(3) }, () =>
      roll(8) === 0 ? "lock:mutex" : `${pick(roll, refs)}:${pick(roll, CONDITIONS)}`,
    );
    const group = roll(3) === 0 ? { group: [0, roll(4)] as const, concurrency: 1 + roll(3) } : {};
    const change = { ...size(roll), tenant: "physics" };
    return [name, { ...change, ...group, ...(after.length === 0 ? {} : { after: [...new Set(after)] }) }];
  });
  return submitDag(Object.fromEntries(members));
}

function makeCancel(roll: Dice, state: State): Command {
  const group = pick(roll, [...state.groups()]);
  const made = cancel(group?.id ?? anything(roll, state));
  if (group === undefined || made.kind !== "allocation.cancel" || roll(3) === 0) return made;
  const from = roll(5);
  if (roll(3) === 0) return cancel(`${group.id}_${from}`);
  return { ...made, elements: [{ from, to: from + roll(3) }] };
}

/** More is released than held, or nothing would run. */
function makeHold(roll: Dice, state: State): Command {
  const group = pick(roll, [...state.groups()]);
  const made = hold(group?.id ?? anything(roll, state), roll(5) < 2, pick(roll, ["ada", "root"]) ?? "ada");
  if (group === undefined || roll(3) === 0) return made;
  const from = roll(5);
  if (roll(3) === 0) return { ...made, id: `${group.id}_${from}` as AllocationId };
  return { ...made, elements: [{ from, to: from + roll(3) }] };
}

function makeCancelDag(roll: Dice, state: State): Command {
  const dag = pick(roll, [...state.dags()]);
  return cancelDag((dag?.id ?? ("dag-99" as DagId)).slice(4));
}
