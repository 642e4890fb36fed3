// The paths of users' requests, and of writes that followers forward to the leader. A request may arrive twice, late,
// out of order, or at another server; an answer may be lost. The caller trusts only an answer and repeats with the
// same request id.

import type { Command, Outcome } from "@lattice/core";
import type { MessageFaults } from "../faults/message-faults.ts";
import type { SimulatedServer } from "../servers/server.ts";
import type { Host } from "../world/host.ts";
import type { World } from "../world/world.ts";

export interface RequestWire {
  /** `null` when refused or not answered in time; it may or may not happen, now or later. */
  call(server: SimulatedServer, command: Command): Promise<Outcome | null>;
  /** A follower forwards a write to the server that it takes for the leader; no answer comes if that one dies. */
  pass(follower: Host, leader: string | null, command: Command): Promise<Outcome>;
}

const ANSWER_TIMEOUT_MS = 5_000;
/** A late request is usually repeated before it arrives. */
const LATE_MS: readonly [number, number] = [1_000, 12_000];
/** The duplicate arrives before or after the original. */
const REPEATED_MS: readonly [number, number] = [1, 8_000];

export function createRequestWire(
  world: World,
  messageFaults: MessageFaults,
  servers: readonly SimulatedServer[],
): RequestWire {
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
          if (messageFaults.strikes("answer_lost")) return;
          world.after(random.between(1, 10), () => {
            cancel();
            resolve(outcome);
          });
        };
        const late = messageFaults.strikes("request_late") ? random.between(...LATE_MS) : 0;
        send(server, { command, waitMs: random.between(1, 10) + late }, answer);
        if (messageFaults.strikes("request_repeated"))
          send(random.pick(servers), { command, waitMs: random.between(...REPEATED_MS) }, answer);
      }),
    pass: (follower, name, command) =>
      new Promise((resolve, reject) => {
        const refused = new Error("the leader cannot be reached");
        // By the name of the current process, as announced in the log.
        const leader = name === null ? undefined : servers.find((server) => name.startsWith(`${server.name}#`));
        if (leader === undefined) return reject(refused);
        const answer = (outcome: Outcome | null): void => {
          world.after(random.between(1, 4), () =>
            follower.deliver(() => (outcome === null ? reject(refused) : resolve(outcome))),
          );
        };
        const late = messageFaults.strikes("proposal_late") ? random.between(...LATE_MS) : 0;
        send(leader, { command, waitMs: random.between(1, 4) + late, passed: true }, answer);
        if (messageFaults.strikes("proposal_repeated"))
          send(leader, { command, waitMs: random.between(...REPEATED_MS), passed: true }, answer);
      }),
  };
}

interface Sent {
  readonly command: Command;
  readonly waitMs: number;
  /** From a follower: it is forwarded only once. */
  readonly passed?: boolean;
}

type Answer = (outcome: Outcome | null) => void;
