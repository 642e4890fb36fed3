// Which server has diverged, from the state hashes of all servers at the same entries.

import { logIndex } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareStates, newestCommonEntry, type ServerState } from "../../src/peers/compare-states.ts";

/** `{ 5: "a" }`: the hash "a" at entry 5. */
const server = (id: string, hashes: Readonly<Record<number, string>>): ServerState => ({
  id,
  marks: Object.entries(hashes).map(([index, hash]) => ({ index: logIndex(Number(index)), hash })),
});

describe("a comparison of states", () => {
  test("finds the one server that differs from the majority, at the newest common entry", () => {
    const { compared, diverged } = compareStates(
      [server("s1", { 5: "a", 9: "b" }), server("s2", { 5: "a", 9: "b" }), server("s3", { 5: "a", 9: "x", 12: "y" })],
      "s3",
    );
    expect([...diverged]).toEqual([["s3", { index: 9, hash: "x", expected: "b" }]]);
    expect([...compared]).toEqual([
      ["s1", 9],
      ["s2", 9],
      ["s3", 9],
    ]);
  });

  test("takes the leader's word where two servers differ", () => {
    const pair = [server("s1", { 5: "a" }), server("s2", { 5: "b" })];
    expect([...compareStates(pair, "s1").diverged.keys()]).toEqual(["s2"]);
    expect([...compareStates(pair, "s2").diverged.keys()]).toEqual(["s1"]);
    expect(compareStates(pair, null)).toEqual({ compared: new Map(), diverged: new Map() });
  });

  test("compares a server that lags at an older entry", () => {
    const { compared, diverged } = compareStates(
      [server("s1", { 5: "a", 9: "b" }), server("s2", { 5: "a", 9: "b" }), server("s3", { 5: "x" })],
      "s1",
    );
    expect([...compared]).toEqual([
      ["s1", 9],
      ["s2", 9],
      ["s3", 5],
    ]);
    expect([...diverged.keys()]).toEqual(["s3"]);
  });

  test("says nothing about servers without a common entry", () => {
    expect(compareStates([server("s1", { 5: "a" }), server("s2", { 6: "b" })], "s1").compared.size).toBe(0);
    expect(compareStates([server("s1", { 5: "a" }), server("s2", {})], "s1").compared.size).toBe(0);
  });

  test("finds exactly the minority, however the servers lag", () => {
    const log = Array.from({ length: 20 }, (_, n) => n + 1);
    const view = fc.record({ from: fc.nat({ max: 19 }), length: fc.integer({ min: 1, max: 20 }) });
    fc.assert(
      fc.property(
        fc.array(view, { minLength: 3, maxLength: 5 }),
        fc.nat({ max: 20 }),
        fc.constantFrom("s1", "s2", null),
        (views, since, leader) => {
          const servers = views.map(({ from, length }, n) => {
            const hashes = log.slice(from, from + length).map((index) => [index, n === 0 && index > since ? "x" : "a"]);
            return server(`s${n + 1}`, Object.fromEntries(hashes));
          });
          const { diverged, compared } = compareStates(servers, leader);
          for (const { id } of servers.slice(1)) if (leader !== "s1") expect(diverged.has(id)).toBe(false);
          const own = compared.get(logId(0));
          const others = servers.slice(1).filter(({ marks }) => marks.some(({ index }) => index === own));
          if (own !== undefined && others.length > 1) expect(diverged.has("s1")).toBe(own > since);
        },
      ),
    );
  });
});

const logId = (n: number): string => `s${n + 1}`;

test("the newest common entry leaves out servers without hashes", () => {
  expect(newestCommonEntry([server("s1", { 5: "a", 9: "b" }), server("s2", { 5: "c" }), server("s3", {})])).toBe(5);
  expect(newestCommonEntry([server("s1", { 5: "a" }), server("s2", { 6: "c" })])).toBeNull();
});
