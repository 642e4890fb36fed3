// Parses whole numbers in flags.

import { InvalidArgumentError } from "commander";

export function parseCount(text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  }
  return value;
}
