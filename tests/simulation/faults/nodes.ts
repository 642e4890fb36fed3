// Faults of nodes, agents and their connections.

import type { Cluster } from "../cluster.ts";
import type { SimulatedNode } from "../nodes/node.ts";
import { tearableFiles } from "../nodes/torn-files.ts";
import type { Random } from "../world/random.ts";
import type { Fault } from "./faults.ts";

const MINUTE = 60_000;

const up = ({ nodes }: Cluster): SimulatedNode[] => nodes.filter((node) => node.agent() !== null);

function crashSome(cluster: Cluster, random: Random, many: number): boolean {
  for (let n = 0; n < many; n++) {
    const living = up(cluster);
    if (living.length === 0) return false;
    const node = random.pick(living);
    node.crash();
    cluster.world.after(random.pick([200, 1_000, 5_000, 40_000, 150_000]), node.start);
  }
  return true;
}

/** A node where elements wait behind others: its agent crashes, it loses power, or it is cut off until it is down. */
function strikeLine(cluster: Cluster, random: Random): boolean {
  const view = cluster.leader()?.life()?.replica?.view;
  const inLine = up(cluster).filter(({ name }) => (view?.node(name as never)?.claims.length ?? 0) > 2);
  if (inLine.length === 0) return false;
  const node = random.pick(inLine);
  const how = random.pick(["crash", "power", "cut"] as const);
  if (how === "cut") {
    const ms = random.pick([3_000, 110_000]);
    for (const server of cluster.servers) cluster.world.after(ms, cluster.network.cut(node.name, server.name));
    return true;
  }
  if (how === "crash") node.crash();
  else node.powerOff();
  cluster.world.after(random.pick([200, 1_000, 40_000, 150_000]), node.start);
  return true;
}

function cutOff({ world, network, servers }: Cluster, nodes: readonly SimulatedNode[], random: Random): boolean {
  const all = random.chance(0.6);
  const lost = all ? servers : [random.pick(servers)];
  const ms = random.pick([300, 3_000, 15_000, 45_000, 110_000, 150_000]);
  for (const node of nodes) {
    for (const server of lost) world.after(ms + random.between(0, 500), network.cut(node.name, server.name));
  }
  return true;
}

export const nodeFaults: readonly Fault[] = [
  { kind: "agent_crash", everyMs: 30_000, strike: (cluster, random) => crashSome(cluster, random, 1) },
  {
    kind: "agent_crash_in_line",
    everyMs: 20_000,
    strike: (cluster, random) => strikeLine(cluster, random),
  },
  { kind: "agents_crash_together", everyMs: 8 * MINUTE, strike: (cluster, random) => crashSome(cluster, random, 3) },
  {
    kind: "node_reboot",
    everyMs: 3 * MINUTE,
    strike(cluster, random) {
      const node = random.pick(cluster.nodes);
      node.powerOff();
      cluster.world.after(random.pick([5_000, 40_000, 120_000]), node.start);
      return true;
    },
  },
  {
    kind: "node_reimaged",
    everyMs: 5 * MINUTE,
    strike(cluster, random) {
      const node = random.pick(cluster.nodes);
      node.reimage();
      cluster.world.after(random.pick([5_000, 60_000, 150_000]), node.start);
      return true;
    },
  },
  {
    kind: "power_cut",
    everyMs: 2 * MINUTE,
    strike(cluster, random) {
      const node = random.pick(
        cluster.nodes.filter(({ machine }) => tearableFiles(machine).length > 0).concat(cluster.nodes),
      );
      node.powerOff();
      for (const tear of tearableFiles(node.machine)) {
        if (random.chance(0.5)) continue;
        tear();
        cluster.messageFaults.met("file_torn");
      }
      cluster.world.after(random.pick([5_000, 40_000, 120_000]), node.start);
      return true;
    },
  },
  {
    kind: "agent_write_torn",
    everyMs: 45_000,
    lies: true,
    strike({ world, nodes, messageFaults }, random) {
      const node = random.pick(nodes);
      node.machine.tear = () => {
        messageFaults.met("agent_write_torn");
        node.crash();
        world.after(random.pick([200, 1_000, 5_000, 40_000]), node.start);
      };
      return true;
    },
  },
  {
    kind: "process_killed",
    everyMs: 45_000,
    strike({ nodes }, random) {
      const busy = nodes.flatMap(({ machine }) => machine.live().map(({ key }) => ({ machine, key })));
      if (busy.length === 0) return false;
      const { machine, key } = random.pick(busy);
      machine.kill(key);
      return true;
    },
  },
  {
    kind: "stream_broken",
    everyMs: 25_000,
    strike: ({ network, nodes }, random) => network.drop(random.pick(nodes).name),
  },
  {
    kind: "node_cut_off",
    everyMs: 90_000,
    strike: (cluster, random) => cutOff(cluster, [random.pick(cluster.nodes)], random),
  },
  {
    kind: "group_cut_off",
    everyMs: 8 * MINUTE,
    strike(cluster, random) {
      const from = random.between(0, cluster.nodes.length - 1);
      return cutOff(cluster, cluster.nodes.slice(from, from + 8), random);
    },
  },
  {
    kind: "agent_clock_jump",
    everyMs: 2 * MINUTE,
    strike({ nodes }, random) {
      random.pick(nodes).machine.jump(random.pick([-60_000, -4_000, -200, 200, 4_000, 60_000]));
      return true;
    },
  },
  {
    kind: "node_drifts",
    everyMs: 4 * MINUTE,
    strike({ world, nodes }, random) {
      const node = random.pick(nodes);
      if (node.machine.conformance !== "c1") return false;
      node.drift("c2");
      world.after(random.pick([5_000, 50_000, 140_000]), () => node.drift("c1"));
      return true;
    },
  },
  {
    kind: "disk_full",
    everyMs: 4 * MINUTE,
    strike({ world, nodes }, random) {
      const { machine } = random.pick(nodes);
      if (machine.full) return false;
      machine.full = true;
      world.after(random.between(2_000, 40_000), () => {
        machine.full = false;
      });
      return true;
    },
  },
];
