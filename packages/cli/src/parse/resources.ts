// Parses amounts of memory and GPUs in flags.

import { gpusFrom, memoryGbFrom } from "@lattice/wire";
import { InvalidArgumentError } from "commander";

/** Returns GiB. */
export const parseMemory = (text: string): number => checked(memoryGbFrom(text));

/** Returns constraints. */
export const parseGpus = (text: string): Readonly<Record<string, unknown>> => checked(gpusFrom(text));

function checked<T extends object | number>(value: T | string): T {
  if (typeof value === "string") throw new InvalidArgumentError(`${value}.`);
  return value;
}
