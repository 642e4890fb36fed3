// Decides which network domains to release after their grace time without members, and which changes the fabric manager
// must receive: new members, and ended domains, which it must forget before their VNIs return to the pool. Raises and clears the notice about an
// exhausted VNI pool. Pure.

import {
  after,
  type Command,
  type Domain,
  domainKey,
  freeVni,
  type Instant,
  isPlaced,
  type NodeId,
  nodesStillInDomains,
  noticeKey,
  poolSize,
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

/** Returns the nodes with claims in the domain, in order. */
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

/** Returns `null` when the notice is up to date. Derived from the pool, since refused submissions change no state. */
export function decidePool(view: Pick<View, "network" | "domains" | "notices">): Command | null {
  const key = noticeKey("vni_pool_exhausted", "cluster");
  const exhausted = freeVni(view) === null;
  const raised = Array.from(view.notices()).some((notice) => notice.key === key && notice.clearedAt === undefined);
  if (exhausted === raised) return null;
  if (!exhausted) return { kind: "notice.clear", key };
  const text = `all ${poolSize(view.network)} VNIs of the pool are in use: no network domain can be created`;
  return { kind: "notice.raise", notice: { key, kind: "vni_pool_exhausted", text, tenant: null, user: null } };
}
