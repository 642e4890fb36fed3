// A logger for simulated programs: messages become notes of the world, with virtual time, only if the run is watched;
// otherwise logging costs nothing.

import type { Logger } from "@lattice/server";
import type { World } from "./world.ts";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

let watching = false;

/** Enables the log of every later simulated program. */
export const listenToLogs = (on: boolean): void => {
  watching = on;
};

export function quietLogger(world: World, name: string): Logger {
  const logger: Record<string, unknown> = { level: "info" };
  for (const level of LEVELS) {
    logger[level] = (first: unknown, text?: unknown): void => {
      if (watching) world.output(`${name} ${level}: ${String(text ?? "")} ${describe(first)}`);
    };
  }
  logger.child = () => logger;
  return logger as unknown as Logger;
}

function describe(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value, (_, inner: unknown) => (inner instanceof Error ? inner.message : inner));
}
