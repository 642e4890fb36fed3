// The addresses of a network domain's nodes, as each of them learns them.

import type { NodeId, View } from "@lattice/core";
import { expect, test } from "vitest";
import { decideOverlay, type SentPeers } from "../../../src/lead/controllers/overlay/decide.ts";

const record = (domain: string, ...nodes: string[]) => ({
  ...{ id: domain, spec: { tenant: "t" }, network: { domain, vni: 0 } },
  phase: { kind: "running", nodes },
});

/** Placed allocations, by domain and nodes; the VNI of a domain is its place in the list. */
function decide(
  placed: readonly ReturnType<typeof record>[],
  known: Readonly<Record<string, readonly string[]>>,
  sent: SentPeers = new Map(),
  leaving: readonly (readonly [node: string, domain: string])[] = [],
) {
  const names = [...new Set([...placed.map(({ network }) => network.domain), ...leaving.map(([, domain]) => domain)])];
  const view = {
    domains: () => names.map((name, n) => ({ key: `t/${name}`, vni: 1_000 + n })),
    placed: () => placed,
    nodes: () => leaving.map(([id, domain]) => ({ id, claims: [{ allocation: domain, releasing: true }] })),
    allocation: (id: string) => record(id),
  } as unknown as View;
  return decideOverlay(view, (node: NodeId) => known[node] ?? null, sent);
}
const texts = ({ intents }: ReturnType<typeof decide>) =>
  intents.map(({ node, vni, addresses, complete }) => `${node} ${vni} ${addresses.join("+")} ${complete}`);

const KNOWN = { n1: ["10.0.0.1"], n2: ["10.0.0.2", "10.1.0.2"], n3: ["10.0.0.3"] };

test("each node learns the others of its own domains, once", () => {
  const placed = [record("blue", "n1", "n2"), record("green", "n2", "n3"), record("blue", "n3")];
  const first = decide(placed, KNOWN);
  expect(texts(first)).toEqual([
    "n1 1000 10.0.0.2+10.0.0.3+10.1.0.2 true",
    "n2 1000 10.0.0.1+10.0.0.3 true",
    "n3 1000 10.0.0.1+10.0.0.2+10.1.0.2 true",
    "n2 1001 10.0.0.3 true",
    "n3 1001 10.0.0.2+10.1.0.2 true",
  ]);
  expect(decide(placed, KNOWN, first.sent).intents).toEqual([]);
  expect(texts(decide(placed, { ...KNOWN, n1: ["10.0.0.9"] }, first.sent))).toEqual([
    "n2 1000 10.0.0.3+10.0.0.9 true",
    "n3 1000 10.0.0.2+10.0.0.9+10.1.0.2 true",
  ]);
});

test("a node that leaves is removed when nothing of it is left", () => {
  const { sent } = decide([record("blue", "n1", "n2")], KNOWN);
  expect(decide([record("blue", "n1")], KNOWN, sent, [["n2", "blue"]]).intents).toEqual([]);
  expect(texts(decide([record("blue", "n1")], KNOWN, sent))).toEqual(["n1 1000  true"]);
});

test("a new leader only adds until it knows all nodes, and nodes without an overlay are left out", () => {
  const placed = [record("blue", "n1", "n2", "n3")];
  const { n1, n2 } = KNOWN;
  const first = decide(placed, { n1, n2 });
  expect(texts(first)).toEqual(["n1 1000 10.0.0.2+10.1.0.2 false", "n2 1000 10.0.0.1 false"]);
  expect(texts(decide(placed, { n1, n2, n3: [] }, first.sent))).toEqual([
    "n1 1000 10.0.0.2+10.1.0.2 true",
    "n2 1000 10.0.0.1 true",
  ]);
});
