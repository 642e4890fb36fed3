// A restored state may be used before its hash has been looked at: the proof goes by the records that were
// restored, whatever has become of them since, and a damaged one is found in the end.

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
  it.each([1, 3, 1000])("is found in steps of %d records, and leaves the hash at hand", (limit) => {
    const { state, proof } = restoreEarly(busy());
    let steps = 0;
    while (proof.step(limit)) steps += 1;
    expect(steps).toBeGreaterThan(limit === 1000 ? -1 : 3);
    expect(Object.values(state.tables).every((table) => table.dirty === 0)).toBe(true);
    expect(proof.step(limit)).toBe(false);
  });

  it("is about what was restored, whatever is changed and removed meanwhile", () => {
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

  it("fails at its end when a record is another than was saved", () => {
    const { proof } = restoreEarly(busy().map((line) => line.replace('"ada"', '"eve"')));
    const prove = () => {
      while (proof.step(2));
    };
    expect(prove).toThrow(SnapshotError);
    expect(prove).toThrow(/damaged/);
  });
});
