// The places for launches on a node: bounded, and never all of one user's.
import { expect, test } from "vitest";
import { launchPlaces } from "../../src/tasks/places.ts";

test("a user who takes every place that it gets leaves places for others", () => {
  const places = launchPlaces();
  const taken = Array.from({ length: 1_000 }, () => places.take("mallory"));
  expect(taken.filter(({ ok }) => ok)).toHaveLength(64);
  expect(taken.at(-1)).toMatchObject({ ok: false, error: "64 launches of one user run on this node already" });
  expect(places.take("bob").ok).toBe(true);
});

test("a place that is released twice is one place", () => {
  const places = launchPlaces();
  const first = Array.from({ length: 64 }, () => places.take("ada"))[0];
  if (first?.ok !== true) throw new Error("a place was expected");
  first.value();
  first.value();
  expect([places.take("ada").ok, places.take("ada").ok]).toEqual([true, false]);
});

test("the node has a limit, and launches of an earlier agent count", () => {
  const places = launchPlaces();
  const given = Array.from({ length: 600 }, (_, n) => places.keep(`user-${n}`));
  expect(places.take("late")).toMatchObject({ ok: false, error: "there are 512 launches on this node already" });
  for (const release of given) release();
  expect(places.take("late").ok).toBe(true);
});
