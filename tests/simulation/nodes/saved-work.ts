// The checkpoints of simulated programs, on a file system that all nodes share: how much of its work a program had done.
// It continues from there, so work that is suspended at its walltime ends some day, as a real program does.

import type { World } from "../world/world.ts";

/** By allocation and number of the checkpoint. */
type SavedWork = Map<string, number>;

const files = new WeakMap<World, SavedWork>();

function savedWork(world: World): SavedWork {
  const known = files.get(world) ?? new Map<string, number>();
  files.set(world, known);
  return known;
}

const nameOf = (allocation: string, number: number): string => `${allocation} ${number}`;

/** `doneMs`: the least of all nodes counts. */
export function saveWork(world: World, allocation: string, number: number, doneMs: number): void {
  const saved = savedWork(world);
  const name = nameOf(allocation, number);
  saved.set(name, Math.min(doneMs, saved.get(name) ?? doneMs));
}

/** Returns 0 for number 0, which is the start of the program. */
export const loadWork = (world: World, allocation: string, number: number): number =>
  savedWork(world).get(nameOf(allocation, number)) ?? 0;
