// Parses decimal numbers in flags.

import { InvalidArgumentError } from "commander";

export function parseAmount(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError("Give a number, 0 or more.");
  return value;
}
