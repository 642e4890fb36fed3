// A client of the control plane: finds the leader by trying, repeats what was not answered with the
// same request id, and believes only an answer.

import type { Command, Outcome } from "@lattice/core";
import type { SimulatedServer } from "../servers/server.ts";
import type { World } from "../world/world.ts";

export interface Client {
  /** Null: not answered after many tries; it may or may not have happened. */
  ask(command: Command): Promise<Outcome | null>;
}

const ANSWER_TIMEOUT_MS = 5_000;
const MAX_TRIES = 40;
/** How often an answer is lost on its way: the client asks again, and must get the same answer. */
const ANSWER_LOST = 0.03;

export function createClient(world: World, servers: readonly SimulatedServer[]): Client {
  const random = world.random("client");
  let believed = 0;

  const pause = (waitMs: number): Promise<void> =>
    new Promise((resolve) => {
      world.after(waitMs, resolve);
    });

  function call(server: SimulatedServer, command: Command): Promise<Outcome | null> {
    return new Promise((resolve) => {
      const cancel = world.after(ANSWER_TIMEOUT_MS, () => resolve(null));
      const answer = (outcome: Outcome | null): void => {
        if (random.chance(ANSWER_LOST)) return;
        world.after(random.between(1, 10), () => {
          cancel();
          resolve(outcome);
        });
      };
      world.after(random.between(1, 10), () => {
        const host = server.life()?.host;
        if (host === undefined) return answer(null);
        host.deliver(() => {
          server.propose(command).then(
            (outcome) => host.deliver(() => answer(outcome)),
            () => host.deliver(() => answer(null)),
          );
        });
      });
    });
  }

  return {
    async ask(command) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const at = believed % servers.length;
        const server = servers[at];
        if (server === undefined) return null;
        const outcome = await call(server, command);
        if (outcome !== null) return outcome;
        if (believed % servers.length === at) believed += 1;
        await pause(random.between(100, 1_000));
      }
      return null;
    },
  };
}
