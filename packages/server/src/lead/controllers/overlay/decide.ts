// Decides which nodes must learn the addresses of the other nodes of a network domain: packets of its overlay are
// received from these only. Agents report their addresses with their hello, so a new leader learns them as
// the agents come back; until it knows all of a domain, it only adds. Pure.

import { type NodeId, nodesStillInDomains, type View } from "@lattice/core";
import { byCodeUnits, membersOf } from "../networks/decide.ts";

interface OverlayIntent {
  readonly node: NodeId;
  readonly vni: number;
  readonly addresses: readonly string[];
  readonly complete: boolean;
}

/** Sent orders, by node and VNI. */
export type SentPeers = ReadonlyMap<string, string>;

/** `null`: the agent has not connected since this server leads. Empty: it has no overlay. */
type AddressesOf = (node: NodeId) => readonly string[] | null;

export const overlayKey = ({ node, vni }: Pick<OverlayIntent, "node" | "vni">): string => `${node} ${vni}`;

/** Returns what to send, and what all nodes of domains have afterwards. */
export function decideOverlay(
  view: Pick<View, "domains" | "placed" | "nodes" | "allocation">,
  addressesOf: AddressesOf,
  sent: SentPeers,
): { readonly intents: readonly OverlayIntent[]; readonly sent: SentPeers } {
  const intents: OverlayIntent[] = [];
  const after = new Map<string, string>();
  const domains = [...view.domains()];
  const members = domains.length === 0 ? NO_MEMBERS : membersOf(view, nodesStillInDomains(view));
  for (const { key, vni } of domains) {
    const nodes = members.get(key) ?? [];
    for (const node of nodes) {
      if ((addressesOf(node) ?? []).length === 0) continue;
      const others = nodes.filter((other) => other !== node).map(addressesOf);
      const addresses = [...new Set(others.flatMap((each) => each ?? []))].sort(byCodeUnits);
      const intent = { node, vni, addresses, complete: !others.includes(null) };
      const content = `${intent.complete} ${addresses.join()}`;
      if (sent.get(overlayKey(intent)) !== content) intents.push(intent);
      after.set(overlayKey(intent), content);
    }
  }
  return { intents, sent: after };
}

const NO_MEMBERS: ReadonlyMap<string, readonly NodeId[]> = new Map();
