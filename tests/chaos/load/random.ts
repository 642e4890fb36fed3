// Random numbers from one seed. Each user draws from its own named stream, so that one does not change the numbers of
// another.
import { createHash } from "node:crypto";
import { mulberry32 } from "../../harness/random.ts";

export interface Random {
  /** From 0, below 1. */
  next(): number;
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
  shuffled<T>(from: readonly T[]): T[];
}

export function randomFor(seed: number, name: string): Random {
  const next = mulberry32(createHash("sha256").update(`${seed} ${name}`).digest().readUInt32LE(0));
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick(from) {
      const chosen = from[between(0, from.length - 1)];
      if (chosen === undefined) throw new Error("nothing to pick from");
      return chosen;
    },
    shuffled(from) {
      const left = [...from];
      return from.flatMap(() => left.splice(between(0, left.length - 1), 1));
    },
  };
}
