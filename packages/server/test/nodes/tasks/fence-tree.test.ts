// The exchange of addresses: through the leader for few nodes, in a tree for many.
import { expect, test } from "vitest";
import { fencePlaces, NODES_BELOW_ONE } from "../../../src/nodes/tasks/fence-tree.ts";

const addresses = (count: number): string[] => Array.from({ length: count }, (_, n) => `node-${n}:1`);
const nodes = (count: number): string[] => Array.from({ length: count }, (_, n) => `node-${n}`);

test("a star is used up to the limit, and when an agent is unreachable", () => {
  expect(fencePlaces({ addresses: addresses(128), nodes: nodes(128), starNodes: 128, key: "k" })).toBeNull();
  expect(fencePlaces({ addresses: [...addresses(200), ""], nodes: nodes(201), starNodes: 128, key: "k" })).toBeNull();
});

test.each([129, 300, 5_000])("%i nodes: every node has its place, and its parent knows it", (count) => {
  const places = fencePlaces({ addresses: addresses(count), nodes: nodes(count), starNodes: 128, key: "k" }) ?? [];
  expect(places).toHaveLength(count);
  const below = places.flatMap((place) => place.below.map((node) => [node, `node-${place.own}:1`] as const));
  expect(below.map(([node]) => node).sort((a, b) => a - b)).toEqual(Array.from({ length: count - 1 }, (_, n) => n + 1));
  for (const [node, above] of below) expect(places[node]?.above).toBe(above);
  expect(places[0]).toMatchObject({ above: "", aboveNode: "" });
  for (const place of places) {
    expect(place.belowNodes).toEqual(place.below.map((node) => `node-${node}`));
    for (const node of place.below) expect(places[node]?.aboveNode).toBe(`node-${place.own}`);
  }
  expect(Math.max(...places.map((place) => place.below.length))).toBe(NODES_BELOW_ONE);
});
