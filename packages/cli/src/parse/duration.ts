// Parses durations in flags, such as "30m", "1h" or "HH:MM:SS", into seconds.

import { ProblemError, parseWalltime } from "@lattice/wire";
import { InvalidArgumentError } from "commander";

export function parseDuration(text: string): number {
  try {
    return parseWalltime(text, "time");
  } catch (error) {
    if (error instanceof ProblemError) throw new InvalidArgumentError("Write 30s, 10m, 1h or HH:MM:SS.");
    throw error;
  }
}
