// Joins a cluster: requests membership at the given addresses, and retries while the cluster adds another member. The
// request may be repeated after a crash.

import { setTimeout as sleep } from "node:timers/promises";
import type { ChannelCredentials } from "@grpc/grpc-js";
import type { Config } from "../base/config/index.ts";
import { answersClients, type Begin, ManagedError, type MemberPlace, namedPlaces } from "../log/index.ts";
import type { LogStart } from "../log/log-config.ts";
import { etcdTlsOf, memberName } from "../log/log-config.ts";
import { askToJoin, type JoinAnswer } from "./ask-to-join.ts";

const JOIN_TIMEOUT_MS = 60_000;
const PAUSE_MS = 500;
const PROBE_MS = 1_000;

/** Leaves other ways to start unchanged. */
export function joinByAsking(begin: LogStart, config: Config, how?: ChannelCredentials): LogStart {
  if (typeof begin !== "object" || !("join" in begin)) return begin;
  const { etcd, nodeId } = config.quorum;
  const own = { name: memberName(nodeId), peer: etcd.peerAddress };
  const ask = async (address: string): Promise<JoinAnswer> => {
    const answer = await askToJoin(address, { id: config.server.id, peerAddress: own.peer }, how);
    // An etcd with TLS does not answer a plain request.
    const etcd = answer.kind === "silent" && (await answersClients(address, etcdTlsOf(config), PROBE_MS));
    return etcd ? { kind: "not_a_server" } : answer;
  };
  return { ask: () => untilAdded(begin.join, ask, { id: config.server.id, own }) };
}

interface Joiner {
  readonly id: string;
  readonly own: MemberPlace;
}

async function untilAdded(
  addresses: readonly string[],
  ask: (address: string) => Promise<JoinAnswer>,
  joiner: Joiner,
): Promise<Begin> {
  const until = performance.now() + JOIN_TIMEOUT_MS;
  for (;;) {
    const reasons: string[] = [];
    for (const address of addresses) {
      const next = decideJoin(await ask(address), { address, ...joiner });
      if (next.kind === "begin") return next.begin;
      if (next.kind === "give_up") throw next.error;
      reasons.push(`${address}: ${next.why}`);
    }
    if (performance.now() + PAUSE_MS > until)
      throw new ManagedError("not_taken_in", `no member added this server; ${reasons.join("; ")}`);
    await sleep(PAUSE_MS);
  }
}

type JoinStep =
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
      // A member that was just added does not answer yet.
      if (retryable || code === "majority_at_risk") return { kind: "later", why: detail };
      return { kind: "give_up", error: new ManagedError("not_taken_in", `${address}: ${detail} ${hint}`) };
    }
    case "not_a_server":
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
