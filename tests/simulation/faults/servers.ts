// Faults of servers.

import type { TenantId } from "@lattice/core";
import type { Cluster } from "../cluster.ts";
import type { SimulatedServer } from "../servers/server.ts";
import { quotaChange, TENANTS } from "../users/requests.ts";
import type { Random } from "../world/random.ts";
import type { Fault } from "./faults.ts";

const MINUTE = 60_000;

const alive = ({ servers }: Cluster): SimulatedServer[] => servers.filter((server) => server.life() !== null);

function crash({ world }: Cluster, server: SimulatedServer, random: Random): void {
  server.crash();
  world.after(random.between(500, 20_000), server.start);
}

function pause({ world }: Cluster, server: SimulatedServer, ms: number): boolean {
  const life = server.life();
  if (life === null || life.host.paused()) return false;
  life.host.pause();
  life.wire.paused();
  world.after(ms, life.host.resume);
  return true;
}

export const serverFaults: readonly Fault[] = [
  {
    kind: "server_crash",
    everyMs: 5 * MINUTE,
    strike(cluster, random) {
      const up = alive(cluster);
      if (up.length === 0) return false;
      crash(cluster, random.pick(up), random);
      return true;
    },
  },
  {
    kind: "leader_crash",
    everyMs: 5 * MINUTE,
    strike(cluster, random) {
      const leader = cluster.leader();
      if (leader === null) return false;
      crash(cluster, leader, random);
      return true;
    },
  },
  {
    kind: "all_servers_crash",
    everyMs: 25 * MINUTE,
    strike(cluster, random) {
      for (const server of alive(cluster)) crash(cluster, server, random);
      return true;
    },
  },
  {
    kind: "leader_paused",
    everyMs: 6 * MINUTE,
    strike(cluster, random) {
      const leader = cluster.leader();
      return leader !== null && pause(cluster, leader, random.pick([500, 2_000, 4_000, 15_000, 100_000]));
    },
  },
  {
    kind: "follower_paused",
    everyMs: 8 * MINUTE,
    strike(cluster, random) {
      const followers = alive(cluster).filter((server) => !server.leads());
      return followers.length > 0 && pause(cluster, random.pick(followers), random.between(500, 120_000));
    },
  },
  {
    kind: "planner_lost",
    everyMs: 4 * MINUTE,
    strike(cluster) {
      const lose = cluster.leader()?.life()?.losePlanner ?? null;
      lose?.();
      return lose !== null;
    },
  },
  {
    kind: "lease_lost",
    everyMs: 6 * MINUTE,
    strike({ store }) {
      if (store.election.leader() === null) return false;
      store.election.depose();
      return true;
    },
  },
  {
    kind: "server_cut_from_log",
    everyMs: 6 * MINUTE,
    strike(cluster, random) {
      const up = alive(cluster);
      if (up.length === 0) return false;
      const heal = random.pick(up).life()?.wire.cut();
      if (heal !== undefined) cluster.world.after(random.pick([800, 2_500, 10_000, 60_000]), heal);
      return true;
    },
  },
  {
    // An administrator lowers a quota to the current use while cycles plan with the old one.
    kind: "quota_squeezed",
    everyMs: MINUTE,
    strike(cluster, random) {
      const { world, logFaultRates } = cluster;
      const view = cluster.leader()?.life()?.replica?.view;
      if (view === undefined || logFaultRates.slowMs > 0) return false;
      const { id, maxNodes } = random.pick(TENANTS);
      const set = (most: number | null, what: string): void => {
        cluster
          .leader()
          ?.propose(quotaChange(id, most, `squeeze-${what}-${world.now()}`))
          .catch(() => undefined);
      };
      const squeeze = (n: number): void => {
        const now = cluster
          .leader()
          ?.life()
          ?.replica?.view.usage(id as TenantId).nodes;
        if (now !== undefined) set(now, `down${n}`);
      };
      // Writes take time, so that plans and changes meet in one entry.
      logFaultRates.slowMs = 300;
      for (let n = 0; n < 6; n += 1) world.after(random.between(0, 3_000), () => squeeze(n));
      world.after(1_500, () => set(maxNodes, "between"));
      world.after(3_200, () => {
        logFaultRates.slowMs = 0;
        set(maxNodes, "back");
      });
      return true;
    },
  },
  {
    kind: "server_clock_jump",
    everyMs: 6 * MINUTE,
    strike({ servers }, random) {
      random.pick(servers).jump(random.pick([-120_000, -5_000, -300, 300, 5_000, 45_000, 120_000]));
      return true;
    },
  },
];
