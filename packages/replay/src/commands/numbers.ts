// Numbers on the command line.

import { InvalidArgumentError } from "commander";

/** The largest machine and trace that one replay supports. */
export const MAX_COUNT = 10_000_000;

export function count(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= 1 && value <= MAX_COUNT) return value;
  throw new InvalidArgumentError(`must be a whole number from 1 to ${MAX_COUNT}.`);
}

export function seed(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= 0 && value <= 0xffffffff) return value;
  throw new InvalidArgumentError("must be a whole number from 0 to 4294967295.");
}
