// Joining a cluster: told of an address, this server asks there to be taken in, and waits while the
// cluster is busy taking in another. Asked again after a crash half-way, the cluster answers the same.

import { setTimeout as sleep } from "node:timers/promises";
import type { ChannelCredentials } from "@grpc/grpc-js";
import type { Config } from "../base/config/index.ts";
import { answersClients, type Begin, ManagedError, type MemberPlace, namedPlaces } from "../log/index.ts";
import type { LogStart } from "../log/log-config.ts";
import { etcdTlsOf, memberName } from "../log/log-config.ts";
import { askToJoin, type JoinAnswer } from "./ask-to-join.ts";

const JOIN_WITHIN_MS = 60_000;
const PAUSE_MS = 500;
const PROBE_MS = 1_000;

/** Leaves every other beginning as it is. */
export function joinByAsking(begin: LogStart, config: Config, how?: ChannelCredentials): LogStart {
  if (typeof begin !== "object" || !("join" in begin)) return begin;
  const { etcd, nodeId } = config.quorum;
  const own = { name: memberName(nodeId), peer: etcd.peerAddress };
  const ask = async (address: string): Promise<JoinAnswer> => {
    const answer = await askToJoin(address, { id: config.server.id, peerAddress: own.peer }, how);
    // An etcd that wants encryption says nothing to who does not offer it.
    const etcd = answer.kind === "silent" && (await answersClients(address, etcdTlsOf(config), PROBE_MS));
    return etcd ? { kind: "stranger" } : answer;
  };
  return { ask: () => untilTakenIn(begin.join, ask, { id: config.server.id, own }) };
}

interface Joiner {
  readonly id: string;
  readonly own: MemberPlace;
}

async function untilTakenIn(
  addresses: readonly string[],
  ask: (address: string) => Promise<JoinAnswer>,
  joiner: Joiner,
): Promise<Begin> {
  const until = performance.now() + JOIN_WITHIN_MS;
  for (;;) {
    const whyNot: string[] = [];
    for (const address of addresses) {
      const next = decideJoin(await ask(address), { address, ...joiner });
      if (next.kind === "begin") return next.begin;
      if (next.kind === "give_up") throw next.error;
      whyNot.push(`${address}: ${next.why}`);
    }
    if (performance.now() + PAUSE_MS > until)
      throw new ManagedError("not_taken_in", `no member took this server in; ${whyNot.join("; ")}`);
    await sleep(PAUSE_MS);
  }
}

export type JoinStep =
  | { readonly kind: "begin"; readonly begin: Begin }
  | { readonly kind: "later"; readonly why: string }
  | { readonly kind: "give_up"; readonly error: ManagedError };

export function decideJoin(answer: JoinAnswer, { address, id, own }: Joiner & { readonly address: string }): JoinStep {
  switch (answer.kind) {
    case "members": {
      const here = answer.members.find(({ peer }) => peer === own.peer);
      if (here !== undefined && here.name !== "") return { kind: "give_up", error: dataGone(here, id) };
      return { kind: "begin", begin: { kind: "joined", members: namedPlaces(own, answer.members) } };
    }
    case "refused": {
      const { code, detail, hint, retryable } = answer.problem;
      // One that was taken in a moment ago does not answer yet.
      if (retryable || code === "majority_at_risk") return { kind: "later", why: detail };
      return { kind: "give_up", error: new ManagedError("not_taken_in", `${address}: ${detail} ${hint}`) };
    }
    case "stranger":
      return { kind: "begin", begin: { kind: "join", endpoints: [address] } };
    case "silent":
      return { kind: "later", why: answer.why };
  }
}

const dataGone = ({ name, peer }: MemberPlace, id: string): ManagedError =>
  new ManagedError(
    "already_member",
    `the cluster knows ${name} at ${peer}, but there is no data of it here; ` +
      `run \`lattice admin raft remove-member ${id}\` and join again`,
  );
