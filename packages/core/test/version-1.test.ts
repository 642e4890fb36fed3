// A log and a snapshot that servers of version 1 wrote, the last ones before version 2: three of them under faults, with
// every kind of command they had. What they counted while they wrote it lies beside it, and must be found again.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  applyEntry,
  beginRestore,
  brokenInvariants,
  COMMAND_VERSIONS,
  createState,
  decodeEntry,
  encodeEntry,
  type Outcome,
  type State,
  snapshotLines,
  stateHash,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { sha256 } from "./support/cluster.ts";

const folder = join(import.meta.dirname, "fixtures", "version-1");
const linesOf = (name: string): readonly string[] => readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
const log = linesOf("log.jsonl");
const snapshot = linesOf("snapshot.jsonl");
const facts = JSON.parse(readFileSync(join(folder, "facts.json"), "utf8")) as {
  readonly entries: number;
  readonly commands: number;
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly end: Standing;
  readonly snapshot: Standing & { readonly index: number };
  readonly hashes: Readonly<Record<string, string>>;
};

interface Standing {
  readonly allocations: Readonly<Record<string, number>>;
  readonly nodes: Readonly<Record<string, number>>;
  readonly claims: number;
  readonly tenants: Readonly<Record<string, number>>;
  readonly vclusters: Readonly<Record<string, number>>;
}

describe("what servers of version 1 wrote", () => {
  it("has every kind of command that there was, and is whole", () => {
    const first = Object.entries(COMMAND_VERSIONS).flatMap(([kind, version]) => (version === 1 ? [kind] : []));
    expect(Object.keys(facts.outcomes).sort()).toEqual(first.sort());
    let before = "";
    for (const text of log) {
      const entry = decodeEntry(text);
      expect([entry.version, entry.prevHash]).toEqual([1, before]);
      // Read and written again it is the same text: its hash is in the entry after it.
      expect(encodeEntry(entry)).toBe(text);
      before = sha256(text);
    }
    expect(log).toHaveLength(facts.entries);
  });

  it("is applied with the same outcomes, to the same state", () => {
    const state = createState();
    const outcomes: Record<string, Record<string, number>> = {};
    const hashes: Record<string, string> = {};
    for (const text of log) {
      const entry = decodeEntry(text);
      const applied = applyEntry(state, entry);
      for (const [n, command] of entry.commands.entries()) {
        const of = outcomes[command.kind] ?? {};
        outcomes[command.kind] = of;
        const what = wordOf(applied.outcomes[n]);
        of[what] = (of[what] ?? 0) + 1;
      }
      if (String(entry.index) in facts.hashes) hashes[entry.index] = stateHash(state, sha256);
    }
    expect(outcomes).toEqual(facts.outcomes);
    expect(standing(state)).toEqual(facts.end);
    expect(brokenInvariants(state)).toEqual([]);
    // Servers of both versions compare their states while they work side by side.
    expect(hashes).toEqual(facts.hashes);
  });

  it("has a snapshot that restores, goes on with the rest of the log, and is the same again when it is taken now", () => {
    const reader = beginRestore(sha256);
    // The first line is the server's own: where the chain of entries stands.
    const [head = "", ...lines] = snapshot;
    for (const line of lines) reader.line(line);
    const state = reader.finish();
    const { index, ...then } = facts.snapshot;
    expect((JSON.parse(head) as { readonly index: number }).index).toBe(index);
    expect(standing(state)).toEqual(then);
    expect([...snapshotLines(state, sha256)]).toEqual(lines);
    for (const text of log.slice(index)) applyEntry(state, decodeEntry(text));
    expect(standing(state)).toEqual(facts.end);
    expect(brokenInvariants(state)).toEqual([]);
  });
});

const wordOf = (outcome: Outcome | undefined): string =>
  outcome?.kind === "rejected" ? outcome.refusal.code : (outcome?.kind ?? "none");

function standing(state: State): Standing {
  return {
    allocations: count([...state.allocations()].map(({ phase }) => phase.kind)),
    nodes: count([...state.nodes()].map((node) => node.state.kind)),
    claims: [...state.nodes()].reduce((sum, { claims }) => sum + claims.length, 0),
    tenants: count([...state.tenants()].map(({ id }) => id)),
    vclusters: count([...state.vclusters()].map(({ id }) => id)),
  };
}

function count(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
