// The fabric manager: a table of VNIs and the nodes that may use each. It is slow, answers late or not at all although
// it has acted, is away for a while, and forgets its table when it restarts.

import type { LeadOptions } from "@lattice/server";
import type { Host } from "../world/host.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

type FabricDomains = NonNullable<LeadOptions["fabric"]>;

export interface FabricManager {
  client(host: Host): FabricDomains;
  /** Whether this node may use this VNI. */
  has(vni: number, node: string): boolean;
  vnis(): readonly number[];
  goAway(): void;
  comeBack(): void;
  /** Forgets everything, or a part. */
  forget(random: Random): boolean;
  /** Nodes that were forgotten and not restored yet. */
  forgotten(vni: number): boolean;
  readonly counts: { fabricCalls: number; fabricFailures: number };
}

/** Probability that a call fails before and after it takes effect. */
const REFUSED = 0.03;
const UNANSWERED = 0.03;
/** Until an unanswered caller gives up. */
const PATIENCE_MS = 5_000;

export function createFabricManager(world: World): FabricManager {
  const random = world.random("fabric");
  const networks = new Map<number, readonly string[]>();
  const lost = new Set<number>();
  const counts = { fabricCalls: 0, fabricFailures: 0 };
  let away = false;

  async function call<T>(host: Host, work: () => T): Promise<T> {
    counts.fabricCalls += 1;
    // The call continues whether or not its caller survives.
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
          world.output(`fabric: ${host.name} puts ${vni} ${nodes.join()}`);
          networks.set(vni, nodes);
          lost.delete(vni);
        }),
      remove: (vni) =>
        call(host, () => {
          world.output(`fabric: ${host.name} removes ${vni}`);
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
