// An overlay equals a map with the same changes, and never changes published maps.

import fc from "fast-check";
import { expect, test } from "vitest";
import { OverlayMap } from "../../../src/lead/planner/overlay-map.ts";

const changes = fc.array(
  fc.record({
    added: fc.array(fc.tuple(fc.nat(12), fc.nat(99)), { maxLength: 4 }),
    removed: fc.array(fc.nat(12), { maxLength: 3 }),
  }),
  { maxLength: 20 },
);

test("an overlay equals a map with the same changes, and earlier overlays stay as they were", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(12), fc.nat(99))), changes, (first, steps) => {
      let overlay: ReadonlyMap<number, number> = new Map(first);
      const plain = new Map(first);
      const published: { readonly overlay: ReadonlyMap<number, number>; readonly expected: Map<number, number> }[] = [];
      for (const { added, removed } of steps) {
        overlay = OverlayMap.over(overlay, new Map(added), removed);
        for (const key of removed) plain.delete(key);
        for (const [key, value] of added) plain.set(key, value);
        published.push({ overlay, expected: new Map(plain) });
      }
      for (const { overlay: map, expected } of published) {
        expect(new Map(map)).toEqual(expected);
        expect(map.size).toBe(expected.size);
        expect([...map.keys()].sort()).toEqual([...expected.keys()].sort());
        expect([...map.values()].sort()).toEqual([...expected.values()].sort());
        for (let key = 0; key <= 12; key += 1) {
          expect(map.get(key)).toBe(expected.get(key));
          expect(map.has(key)).toBe(expected.has(key));
        }
        const visited = new Map<number, number>();
        map.forEach((value, key) => {
          visited.set(key, value);
        });
        expect(visited).toEqual(expected);
      }
    }),
  );
});

test("an empty change returns the same map", () => {
  const map = new Map([[1, 2]]);
  expect(OverlayMap.over(map, new Map(), [])).toBe(map);
});
