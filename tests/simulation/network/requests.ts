// The wires on which users' requests travel, and those between servers on which followers pass them on to
// the leader. A request may come twice, late, in another order than it was sent, or at another server;
// an answer may be lost. Whoever asks believes only an answer, and asks again with the same request id.

import type { Command, Outcome } from "@lattice/core";
import type { Odds } from "../faults/odds.ts";
import type { SimulatedServer } from "../servers/server.ts";
import type { Host } from "../world/host.ts";
import type { World } from "../world/world.ts";

export interface RequestWire {
  /** Null: refused, or not answered in time; it may or may not happen, now or later. */
  call(server: SimulatedServer, command: Command): Promise<Outcome | null>;
  /** A follower hands a write to whoever it takes for the leader; never answered when that one dies. */
  pass(follower: Host, leader: string | null, command: Command): Promise<Outcome>;
}

const ANSWER_TIMEOUT_MS = 5_000;
/** A late request is mostly asked again before it comes. */
const LATE_MS: readonly [number, number] = [1_000, 12_000];
/** The second of two comes before or after the first. */
const REPEATED_MS: readonly [number, number] = [1, 8_000];

export function createRequestWire(world: World, odds: Odds, servers: readonly SimulatedServer[]): RequestWire {
  const random = world.random("requests");

  function send(server: SimulatedServer, { command, waitMs, passed = false }: Sent, answer: Answer): void {
    world.after(waitMs, () => {
      const host = server.life()?.host;
      if (host === undefined) return answer(null);
      host.deliver(() => {
        (passed ? server.commit(command) : server.propose(command)).then(
          (outcome) => host.deliver(() => answer(outcome)),
          () => host.deliver(() => answer(null)),
        );
      });
    });
  }

  return {
    call: (server, command) =>
      new Promise((resolve) => {
        const cancel = world.after(ANSWER_TIMEOUT_MS, () => resolve(null));
        const answer = (outcome: Outcome | null): void => {
          if (odds.strikes("answer_lost")) return;
          world.after(random.between(1, 10), () => {
            cancel();
            resolve(outcome);
          });
        };
        const late = odds.strikes("request_late") ? random.between(...LATE_MS) : 0;
        send(server, { command, waitMs: random.between(1, 10) + late }, answer);
        if (odds.strikes("request_repeated"))
          send(random.pick(servers), { command, waitMs: random.between(...REPEATED_MS) }, answer);
      }),
    pass: (follower, name, command) =>
      new Promise((resolve, reject) => {
        const refused = new Error("the leader cannot be reached");
        // By the name of its present life, as the log tells it.
        const leader = name === null ? undefined : servers.find((server) => name.startsWith(`${server.name}#`));
        if (leader === undefined) return reject(refused);
        const answer = (outcome: Outcome | null): void => {
          world.after(random.between(1, 4), () =>
            follower.deliver(() => (outcome === null ? reject(refused) : resolve(outcome))),
          );
        };
        const late = odds.strikes("proposal_late") ? random.between(...LATE_MS) : 0;
        send(leader, { command, waitMs: random.between(1, 4) + late, passed: true }, answer);
        if (odds.strikes("proposal_repeated"))
          send(leader, { command, waitMs: random.between(...REPEATED_MS), passed: true }, answer);
      }),
  };
}

interface Sent {
  readonly command: Command;
  readonly waitMs: number;
  /** By a follower: it is passed on once only. */
  readonly passed?: boolean;
}

type Answer = (outcome: Outcome | null) => void;
