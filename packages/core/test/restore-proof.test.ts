// A restored state may be used before its hash is verified: the proof uses the restored records, also when they have
// changed since, and detects a damaged one in the end.

import { applyEntry, beginRestore, type Command, SnapshotError, snapshotLines, stateHash } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { cancel, createCluster, entryFor, origin, register, sha256, submit, submitGroup } from "./support/cluster.ts";

function busy(): string[] {
  const c = createCluster(
    register("n1"),
    register("n2"),
    submit({}, origin("r1")),
    submit(),
    submit(),
    submitGroup([1, 4]),
  );
  c.place(1, "n1");
  c.apply(cancel(2));
  return [...snapshotLines(c.state, sha256)];
}

function restoreEarly(lines: readonly string[]) {
  const reader = beginRestore(sha256);
  for (const line of lines) reader.line(line);
  return reader.finishEarly();
}

describe("the proof of a restored state", () => {
  it.each([1, 3, 1000])("is computed in steps of %d records, and leaves every table hashed", (limit) => {
    const { state, proof } = restoreEarly(busy());
    let steps = 0;
    while (proof.step(limit)) steps += 1;
    expect(steps).toBeGreaterThan(limit === 1000 ? -1 : 3);
    expect(Object.values(state.tables).every((table) => table.dirty === 0)).toBe(true);
    expect(proof.step(limit)).toBe(false);
  });

  it("covers the restored records, also when they are changed or removed meanwhile", () => {
    const lines = busy();
    const { state, proof } = restoreEarly(lines);
    const say = (...commands: Command[]) => applyEntry(state, entryFor(state, state.at + 1_000, commands));
    proof.step(4);
    say(submit(), cancel(1), cancel(3));
    proof.step(2);
    say({ kind: "retention.set", maxFinished: 0, maxFinishedAge: 0 as never }, cancel(4));
    while (proof.step(1));
    // The same, step by step or at once.
    const twin = beginRestore(sha256);
    for (const line of lines) twin.line(line);
    const other = twin.finish();
    const again = (...commands: Command[]) => applyEntry(other, entryFor(other, other.at + 1_000, commands));
    again(submit(), cancel(1), cancel(3));
    again({ kind: "retention.set", maxFinished: 0, maxFinishedAge: 0 as never }, cancel(4));
    expect(stateHash(state, sha256)).toBe(stateHash(other, sha256));
  });

  it("fails at its end when a record differs from the saved one", () => {
    const { proof } = restoreEarly(busy().map((line) => line.replace('"ada"', '"eve"')));
    const prove = () => {
      while (proof.step(2));
    };
    expect(prove).toThrow(SnapshotError);
    expect(prove).toThrow(/damaged/);
  });
});
