// Decides which network domains have been without members for their grace time, and what the fabric manager must know: members
// that it does not know, and domains that are over, which it must forget before their numbers go back to the pool. Pure.

import {
  after,
  type Domain,
  domainKey,
  type Instant,
  isPlaced,
  type NodeId,
  nodesStillInDomains,
  sameNodes,
  type View,
} from "@lattice/core";

export type NetworkIntent =
  | { readonly kind: "release"; readonly domain: Domain }
  | { readonly kind: "forget"; readonly domain: Domain }
  | { readonly kind: "put"; readonly domain: Domain; readonly nodes: readonly NodeId[] };

export function decideNetworks(view: View, now: Instant): readonly NetworkIntent[] {
  const intents: NetworkIntent[] = [];
  const domains = [...view.domains()];
  if (domains.length === 0) return intents;
  const lingering = nodesStillInDomains(view);
  const managed = view.network.managed === true;
  const wanted = managed ? membersOf(view, lingering) : NO_MEMBERS;
  for (const domain of domains) {
    const { key, emptySince, grace, fabric } = domain;
    const over = emptySince !== null && now >= after(emptySince, grace) && !lingering.has(key);
    if (over) intents.push({ kind: managed ? "forget" : "release", domain });
    if (over || !managed) continue;
    const nodes = wanted.get(key) ?? [];
    const asIs = fabric !== undefined && fabric.problem === undefined && sameNodes(fabric.nodes, nodes);
    // An empty domain keeps its nodes; the next member brings its own.
    const idle = nodes.length === 0 && fabric?.problem === undefined;
    if (!asIs && !idle) intents.push({ kind: "put", domain, nodes });
  }
  return intents;
}

const NO_MEMBERS: ReadonlyMap<string, readonly NodeId[]> = new Map();

/** Nodes that something of the domain is on, in order. */
export function membersOf(
  view: Pick<View, "placed">,
  lingering: ReadonlyMap<string, ReadonlySet<NodeId>>,
): ReadonlyMap<string, readonly NodeId[]> {
  const nodes = new Map<string, Set<NodeId>>();
  for (const [key, left] of lingering) nodes.set(key, new Set(left));
  for (const { phase, spec, network } of view.placed()) {
    if (network === undefined || !isPlaced(phase)) continue;
    const key = domainKey(spec.tenant, network.domain);
    const of = nodes.get(key) ?? new Set<NodeId>();
    nodes.set(key, of);
    for (const node of phase.nodes) of.add(node);
  }
  return new Map(Array.from(nodes, ([key, of]) => [key, [...of].sort(byCodeUnits)]));
}

export const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
