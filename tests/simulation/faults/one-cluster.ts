// Faults that could make two clusters of one: a member of the log loses its data, and agents meet servers of another
// cluster or servers on an older copy of the log.

import type { Cluster } from "../cluster.ts";
import type { SimulatedNode } from "../nodes/node.ts";
import { FOREIGN_SERVER, OLDER_SERVER } from "../servers/impostors.ts";
import type { Random } from "../world/random.ts";
import type { Fault } from "./faults.ts";

const MINUTE = 60_000;
/** Until an operator replaces a lost member. */
const REPLACED_MS = [8_000, 60_000] as const;
const IMPOSTOR_MS = [5_000, 40_000] as const;
/** An older copy ends at most this many entries before the newest. */
const OLDER_BY = 120;

/** The addresses of some servers lead to the impostor for these nodes. */
function divert(cluster: Cluster, nodes: readonly SimulatedNode[], to: string, random: Random): () => void {
  const { network, servers } = cluster;
  const taken = random.chance(0.5) ? servers : [random.pick(servers)];
  const undo = nodes.flatMap(({ name }) => taken.map((server) => network.divert(name, server.name, to)));
  for (const { name } of nodes) network.drop(name);
  return () => {
    for (const one of undo) one();
  };
}

function some(nodes: readonly SimulatedNode[], random: Random): readonly SimulatedNode[] {
  const share = random.pick([0.1, 0.3, 1]);
  return nodes.filter(() => random.chance(share));
}

function meet(
  cluster: Cluster,
  nodes: readonly SimulatedNode[],
  name: string,
  leave: () => void,
  random: Random,
): void {
  const undo = divert(cluster, nodes, name, random);
  cluster.impostor = name;
  cluster.world.after(random.between(...IMPOSTOR_MS), () => {
    undo();
    leave();
    cluster.impostor = null;
  });
}

export const oneClusterFaults: readonly Fault[] = [
  {
    // The data folder of its etcd member is removed, while it runs or while it is stopped.
    kind: "member_empty_disk",
    everyMs: 4 * MINUTE,
    strike({ world, servers }, random) {
      if (servers.some((server) => server.lost())) return false;
      const server = random.pick(servers);
      const running = random.chance(0.5);
      server.loseMember(running);
      if (!running) world.after(random.between(500, 5_000), server.start);
      world.after(random.between(...REPLACED_MS), server.replaceMember);
      return true;
    },
  },
  {
    kind: "foreign_cluster_answers",
    everyMs: 3 * MINUTE,
    strike(cluster, random) {
      const nodes = some(
        cluster.nodes.filter((node) => node.knownIndex() > 0),
        random,
      );
      if (cluster.impostor !== null || nodes.length === 0) return false;
      meet(cluster, nodes, FOREIGN_SERVER, cluster.impostors.foreign(random), random);
      return true;
    },
  },
  {
    kind: "older_state_met",
    everyMs: 3 * MINUTE,
    strike(cluster, random) {
      const { store, impostors } = cluster;
      const newest = store.firstIndex + store.entries.length - 1;
      const through = newest - random.between(1, OLDER_BY);
      const nodes = some(
        cluster.nodes.filter((node) => node.knownIndex() > through),
        random,
      );
      if (cluster.impostor !== null || nodes.length === 0 || through < 1) return false;
      const leave = impostors.older(random, store, through);
      if (leave === null) return false;
      meet(cluster, nodes, OLDER_SERVER, leave, random);
      return true;
    },
  },
];
