// Random numbers from one seed. Each purpose has its own stream, derived from its name, so that one purpose does not
// change the numbers of another.

import { mulberry32 } from "../../harness/random.ts";

export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  /** Waiting time until an event that happens every `mean` on average, at least 1. */
  wait(mean: number): number;
  pick<T>(items: readonly T[]): T;
}

export function randomStream(seed: number, name: string): Random {
  const next = mulberry32(mix(seed ^ hashOf(name)));
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    wait: (mean) => Math.max(1, Math.round(-Math.log(1 - next()) * mean)),
    pick<T>(items: readonly T[]): T {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new RangeError("nothing to pick from");
      return item;
    },
  };
}

/** FNV-1a, 32 bits. */
export function hashOf(text: string, from = 0x811c9dc5): number {
  let hash = from;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

function mix(n: number): number {
  let h = n | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
