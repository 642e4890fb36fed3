// The fabric manager: a table of numbers and the nodes that may use each. It takes its time, answers late or not at all though it has done
// what it was asked, is away for a while, and forgets what it knew when it is begun anew.

import type { LeadOptions } from "@lattice/server";
import type { Host } from "../world/host.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

type FabricDomains = NonNullable<LeadOptions["fabric"]>;

export interface FabricManager {
  client(host: Host): FabricDomains;
  /** Whether this node may speak in this network. */
  has(vni: number, node: string): boolean;
  vnis(): readonly number[];
  goAway(): void;
  comeBack(): void;
  /** Everything, or some of it. */
  forget(random: Random): boolean;
  /** Nodes that were lost to forgetting and not put back yet. */
  forgotten(vni: number): boolean;
  readonly counts: { fabricCalls: number; fabricFailures: number };
}

/** How often a call fails before anything is done, and after it is. */
const REFUSED = 0.03;
const UNANSWERED = 0.03;
/** Until somebody who is not answered gives up. */
const PATIENCE_MS = 5_000;

export function createFabricManager(world: World): FabricManager {
  const random = world.random("fabric");
  const networks = new Map<number, readonly string[]>();
  const lost = new Set<number>();
  const counts = { fabricCalls: 0, fabricFailures: 0 };
  let away = false;

  async function call<T>(host: Host, work: () => T): Promise<T> {
    counts.fabricCalls += 1;
    // On its way, whether or not the one who asks lives to hear of it.
    await new Promise<void>((resolve) => world.after(random.between(1, 40), resolve));
    if (away || random.chance(REFUSED)) {
      await host.wait(away ? PATIENCE_MS : random.between(1, 20));
      return fail(away ? "it does not answer" : "it answers 503");
    }
    const done = work();
    if (random.chance(UNANSWERED)) {
      await host.wait(PATIENCE_MS);
      return fail("it does not answer");
    }
    await host.wait(random.between(1, 40));
    return done;
  }

  function fail(why: string): never {
    counts.fabricFailures += 1;
    throw new Error(why);
  }

  return {
    counts,
    client: (host) => ({
      put: ({ vni, nodes }) =>
        call(host, () => {
          world.said(`fabric: ${host.name} puts ${vni} ${nodes.join()}`);
          networks.set(vni, nodes);
          lost.delete(vni);
        }),
      remove: (vni) =>
        call(host, () => {
          world.said(`fabric: ${host.name} removes ${vni}`);
          networks.delete(vni);
        }),
      list: () => call(host, () => Array.from(networks, ([vni, nodes]) => ({ vni, nodes }))),
    }),
    has: (vni, node) => networks.get(vni)?.includes(node) === true,
    vnis: () => [...networks.keys()],
    goAway() {
      away = true;
    },
    comeBack() {
      away = false;
    },
    forget(chance) {
      if (networks.size === 0) return false;
      for (const vni of [...networks.keys()]) {
        if (chance.chance(0.5)) continue;
        networks.delete(vni);
        lost.add(vni);
      }
      return true;
    },
    forgotten: (vni) => lost.has(vni),
  };
}
