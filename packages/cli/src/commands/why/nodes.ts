// How the nodes stand, in lines: how many can take it, how many fail which constraint, who has the others.

import type { Explanation } from "@lattice/sdk";
import { clean } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";

export function nodeLines({ nodes }: Explanation): string[] {
  if (nodes === undefined) return [];
  const {
    total = 0,
    needed = 0,
    matching = 0,
    free = 0,
    failing = [],
    busy = [],
    busy_with_others = 0,
    held = [],
  } = nodes;
  return [
    `${needed} needed; of ${total} nodes ${matching} can take it, ${free} of them free.`,
    ...failing.map(({ what, nodes: count }) => `${count} fail ${clean(what)}.`),
    ...busy.map(({ allocation_id, user, tenant, nodes: count, until }) => {
      const whose = allocation_id === undefined ? "another's work" : `${allocation_id}${ownerText(user, tenant)}`;
      return `${count} busy with ${whose}, ${until === undefined ? "end unknown" : `until ${localTime(until)} at the latest`}.`;
    }),
    ...(busy_with_others > 0 ? [`${busy_with_others} more busy with others.`] : []),
    ...held.map(({ allocation_id, vcluster, nodes: count, starts_at }) => {
      const whose = allocation_id ?? (vcluster === undefined ? "another's work" : `vCluster ${clean(vcluster)}`);
      return `${count} free, but held for ${whose}, which starts at ${localTime(starts_at)}.`;
    }),
  ];
}

/** Of colleagues the tenant alone is told. */
function ownerText(user: string | undefined, tenant: string | undefined): string {
  const known = [user, tenant].flatMap((name) => (name === undefined ? [] : clean(name)));
  return known.length === 0 ? "" : ` (${known.join(" of ")})`;
}
