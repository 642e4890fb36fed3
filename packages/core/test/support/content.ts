// The content of a state without its position in the log, for tests of commands that must change nothing.

import type { Applied, Command, Outcome, State } from "@lattice/core";
import { expect } from "vitest";
import { type Cluster, sha256 } from "./cluster.ts";
import { verdict } from "./read-applied.ts";

/** Returns a text that is equal exactly for states with equal tables, counters and retention. */
export function contentOf(state: State): string {
  const tables = Object.entries(state.tables).map(([name, table]) => `${name} ${table.digest(sha256)}`);
  return JSON.stringify([tables, state.counters, state.retention, state.version]);
}

/** Applies a command that must be rejected with this code, and checks that nothing has changed and nothing follows. */
export function expectRejected(c: Cluster, command: Command, code: string): Outcome | undefined {
  const before = contentOf(c.state);
  const applied = c.apply(command);
  expect(verdict(applied.outcomes[0])).toBe(code);
  expectIdle(applied);
  expect(contentOf(c.state)).toBe(before);
  return applied.outcomes[0];
}

/** Applies a command that was carried out before, and checks that nothing has changed and nothing follows. */
export function expectRepeated(c: Cluster, command: Command): void {
  expectRejected(c, command, "repeated");
}

function expectIdle({ events, effects }: Applied): void {
  expect([events, effects]).toEqual([[], []]);
}
