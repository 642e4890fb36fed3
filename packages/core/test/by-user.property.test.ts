// The allocations of each user, as the index lists them and as a plain filter finds them, through submissions,
// groups with elements created later than their ids, ends, archived records and snapshots.

import { beginRestore, type Command, duration, type State, snapshotLines, type UserName } from "@lattice/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { cancel, createCluster, id, origin, sha256, submit, submitGroup } from "./support/cluster.ts";

const USERS = ["ada", "bob", "eve"] as const;

const step = fc.oneof(
  fc.record({ kind: fc.constant("submit" as const), user: fc.constantFrom(...USERS) }),
  fc.record({ kind: fc.constant("group" as const), user: fc.constantFrom(...USERS) }),
  fc.record({ kind: fc.constant("cancel" as const), n: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ kind: fc.constant("forget" as const) }),
);

function commandFor(done: typeof step extends fc.Arbitrary<infer S> ? S : never): Command {
  if (done.kind === "cancel") return cancel(done.n);
  if (done.kind === "forget") return { kind: "retention.set", maxFinished: 0, maxFinishedAge: duration(1) };
  const from = { ...origin(), user: done.user as UserName };
  if (done.kind === "submit") return submit({}, from);
  return { ...(submitGroup([1, 4], 2) as Extract<Command, { kind: "group.submit" }>), origin: from };
}

function listed(state: State) {
  return USERS.map((user) => ({
    user,
    ids: Array.from(state.ofUser(user as UserName), (record) => record.id),
    count: state.ofUserCount(user as UserName),
  }));
}

function filtered(state: State) {
  return USERS.map((user) => {
    const ids = Array.from(state.allocations())
      .filter((record) => record.user === user)
      .map((record) => record.id);
    return { user, ids, count: ids.length };
  });
}

it("the index of each user's allocations equals the filtered list, in the same order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const c = createCluster();
      for (const done of steps) {
        c.apply(commandFor(done));
        expect(listed(c.state)).toEqual(filtered(c.state));
      }
      const restore = beginRestore(sha256);
      for (const line of snapshotLines(c.state, sha256)) restore.line(line);
      expect(listed(restore.finish())).toEqual(filtered(c.state));
    }),
    { numRuns: 60 },
  );
});

it("a user without work has no allocations in the index", () => {
  const c = createCluster(submit(), submitGroup([1, 2]));
  expect(Array.from(c.state.ofUser("ada" as UserName), (record) => record.id)).toEqual(["1", "2_1", "2_2"]);
  c.apply({ kind: "retention.set", maxFinished: 0, maxFinishedAge: duration(1) });
  c.apply(cancel(1), cancel(2));
  c.advance(10);
  c.apply(submit({}, { ...origin(), user: "bob" as UserName }));
  expect(c.state.allocation(id(1))).toBeUndefined();
  expect(c.state.ofUserCount("ada" as UserName)).toBe(0);
  expect([...c.state.ofUser("ada" as UserName)]).toEqual([]);
  expect(c.state.ofUserCount("bob" as UserName)).toBe(1);
});
