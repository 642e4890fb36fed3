// Exchanges in a tree of agents: three hundred of them without a network, in any order and with everything said twice;
// and some over real connections, one of which comes late and one of which is no member.
import { create } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PmiEntry } from "../../src/tasks/base/name-types.ts";
import { type FencePeers, fencePeers } from "../../src/tasks/fence/peers.ts";
import { type FenceEffect, fenceTree } from "../../src/tasks/fence/tree.ts";
import { inTheClear } from "../../src/tasks/fence/trust.ts";
import { found } from "../fake-server.ts";

const BELOW = 4;
const aboveOf = (node: number): number => Math.floor((node - 1) / BELOW);
const belowOf = (node: number, count: number): number[] =>
  Array.from({ length: BELOW }, (_, n) => node * BELOW + 1 + n).filter((n) => n < count);
const brought = (node: number, number: number): readonly PmiEntry[] => [[`${number}.${node}`, `of ${node}`]];

test("300 nodes complete two fences in any order with repeated messages", () => {
  const count = 300;
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (chances) => {
      const trees = Array.from({ length: count }, (_, node) => fenceTree(belowOf(node, count), node === 0));
      const chance = (limit: number): number => (chances.next().value as number) % limit;
      for (const number of [1, 2]) {
        const results = new Map<number, readonly PmiEntry[]>();
        const waiting: (() => readonly [number, readonly FenceEffect[]])[] = trees.map(
          (tree, node) => () => [node, tree.own(number, brought(node, number))] as const,
        );
        while (waiting.length > 0) {
          const at = chance(waiting.length);
          const act = waiting[at];
          // Sometimes it is said again later.
          if (chance(10) > 0) waiting.splice(at, 1);
          const [node, effects] = act?.() ?? [0, []];
          for (const effect of effects) {
            const { entries } = effect;
            if (effect.kind === "done") results.set(node, entries);
            else if (effect.kind === "up")
              waiting.push(
                () => [aboveOf(node), trees[aboveOf(node)]?.fromBelow(node, number, entries) ?? []] as const,
              );
            else
              for (const to of effect.to)
                waiting.push(() => [to, trees[to]?.fromAbove(number, entries) ?? []] as const);
          }
        }
        expect(results.size).toBe(count);
        for (const entries of results.values()) expect(new Set(entries.map(([key]) => key)).size).toBe(count);
      }
    }),
    { numRuns: 3 },
  );
});

test("a foreign node is not counted, and a node that missed the answer gets it", () => {
  const top = fenceTree([1, 2], true);
  expect(top.own(1, [])).toEqual([]);
  expect(top.fromBelow(7, 1, [["x", "y"]])).toEqual([]);
  expect(top.fromBelow(1, 2, [])).toEqual([]);
  expect(top.fromBelow(1, 1, [["a", "b"]])).toEqual([]);
  expect(top.fromBelow(2, 1, [])).toMatchObject([
    { kind: "down", to: [1, 2] },
    { kind: "done", entries: [["a", "b"]] },
  ]);
  expect(top.fromBelow(2, 1, [])).toMatchObject([{ kind: "down", to: [2], entries: [["a", "b"]] }]);
});

test("real connections complete a fence with a late node and without a foreign one", async () => {
  const count = 9;
  const nodes: FencePeers[] = [];
  for (let node = 0; node < count; node += 1) nodes.push(await fencePeers("127.0.0.1:0", "127.0.0.1", inTheClear));
  const results = new Map<number, readonly PmiEntry[]>();
  const join = (node: number, key = "secret") =>
    nodes[node]?.join(
      "launch-1",
      create(pb.FencePlaceSchema, {
        own: node,
        above: node === 0 ? "" : (nodes[aboveOf(node)]?.address ?? ""),
        below: belowOf(node, count),
        key,
      }),
      (number, entries) => void (number === 1 && results.set(node, entries)),
      () => undefined,
    );
  const intruder = join(8, "guessed");
  intruder?.bring(1, [["bad", "bad"]]);
  const members = Array.from({ length: count - 2 }, (_, n) => join(n + 1));
  for (const [n, member] of members.entries()) member?.bring(1, brought(n + 1, 1));
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(results.size).toBe(0);
  intruder?.leave();
  // The top comes last, and the one that was a intruder now has the key.
  members.push(join(8), join(0));
  members.at(-2)?.bring(1, brought(8, 1));
  members.at(-1)?.bring(1, brought(0, 1));
  await found(() => results.size === count);
  for (const entries of results.values()) expect(entries.map(([key]) => key).sort()).toHaveLength(count);
  expect([...results.values()].flat().some(([key]) => key === "bad")).toBe(false);
  for (const member of members) member?.leave();
  for (const node of nodes) node.close();
});

test("a stream without the key of a launch ends before it has sent a message", async () => {
  const node = await fencePeers("127.0.0.1:0", "127.0.0.1", inTheClear);
  const place = create(pb.FencePlaceSchema, { own: 0, below: [1], key: "secret" });
  const member = node.join(
    "launch-1",
    place,
    () => undefined,
    () => undefined,
  );
  const client = new Client(node.address, credentials.createInsecure());
  for (const key of ["", "guessed", "secres"]) {
    const metadata = new Metadata();
    metadata.set("lattice-launch-bin", Buffer.from("launch-1"));
    metadata.set("lattice-key-bin", Buffer.from(key));
    const same = (bytes: Buffer): Buffer => bytes;
    const call = client.makeBidiStreamRequest("/lattice.v1.FenceService/Exchange", same, same, metadata);
    call.on("data", () => undefined);
    const problem = await new Promise<Error>((resolve) => call.on("error", resolve));
    expect(problem.message).toContain("there is no such launch here");
  }
  client.close();
  member.leave();
  node.close();
});

test("a fence with more data than nodes may carry ends the launch", async () => {
  const [top, below] = [
    await fencePeers("127.0.0.1:0", "127.0.0.1", inTheClear),
    await fencePeers("127.0.0.1:0", "127.0.0.1", inTheClear),
  ];
  let refused = false;
  const ignored = (): void => undefined;
  const first = top.join("l", create(pb.FencePlaceSchema, { own: 0, below: [1], key: "k" }), ignored, () => {
    refused = true;
  });
  const place = create(pb.FencePlaceSchema, { own: 1, above: top.address, key: "k" });
  const second = below.join("l", place, ignored, ignored);
  second.bring(1, [["k", "x".repeat(33 * 1024 * 1024)]]);
  await found(() => refused);
  for (const one of [first, second]) one.leave();
  for (const one of [top, below]) one.close();
});
