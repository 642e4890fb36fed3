// A client of the control plane: finds the leader by trying, repeats unanswered requests with the same id, and trusts
// only an answer.

import type { Command, Outcome } from "@lattice/core";
import type { RequestWire } from "../network/requests.ts";
import type { SimulatedServer } from "../servers/server.ts";
import type { World } from "../world/world.ts";

export interface Client {
  /** `null` when not answered after many tries; it may or may not have happened. */
  ask(command: Command): Promise<Outcome | null>;
}

const MAX_TRIES = 40;

export function createClient(world: World, servers: readonly SimulatedServer[], wire: RequestWire): Client {
  const random = world.random("client");
  let believed = 0;

  const pause = (waitMs: number): Promise<void> =>
    new Promise((resolve) => {
      world.after(waitMs, resolve);
    });

  return {
    async ask(command) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const at = believed % servers.length;
        const server = servers[at];
        if (server === undefined) return null;
        const outcome = await wire.call(server, command);
        if (outcome !== null) return outcome;
        if (believed % servers.length === at) believed += 1;
        await pause(random.between(100, 1_000));
      }
      return null;
    },
  };
}
