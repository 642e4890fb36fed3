// Joins a cluster: requests membership at the given addresses, and retries while the cluster adds another member. A
// refusal that another try does not change ends the attempt at once. The request may be repeated after a crash: until
// the new member has copied the log it has no vote, so that it never costs the cluster its majority.

import { setTimeout as sleep } from "node:timers/promises";
import type { KnownIdentity } from "@lattice/core";
import { refuseNewMember } from "../base/cluster-identity.ts";
import type { Config } from "../base/config/index.ts";
import type { Logger } from "../base/observe/index.ts";
import { answersClients, type Begin, ManagedError, type MemberPlace, namedPlaces } from "../log/index.ts";
import type { LogStart } from "../log/log-config.ts";
import { etcdTlsOf, memberName } from "../log/log-config.ts";
import { askToJoin, type JoinAnswer, type JoinIdentity } from "./ask-to-join.ts";
import { speaksTls } from "./post-json.ts";

interface JoinLimits {
  /** Servers that do not answer, or have no majority, are not worth more. */
  readonly withinMs: number;
  /** While the cluster adds another member. */
  readonly busyMs: number;
}

const LIMITS: JoinLimits = { withinMs: 10_000, busyMs: 60_000 };
const PAUSE_MS = 500;
const PROBE_MS = 1_000;
const REPORT_EVERY_MS = 5_000;

interface JoinParts {
  readonly config: Config;
  readonly identity: Omit<JoinIdentity, "token">;
  /** The cluster that this server belongs to already. */
  readonly own: KnownIdentity | null;
  readonly logger: Logger;
}

/** Leaves other ways to start unchanged. */
export function joinByAsking(begin: LogStart, { config, identity, own, logger }: JoinParts, limits = LIMITS): LogStart {
  if (typeof begin !== "object" || !("join" in begin)) return begin;
  const { etcd, nodeId } = config.quorum;
  const joiner: Joiner = {
    id: config.server.id,
    replace: begin.replace === true,
    own: { name: memberName(nodeId), peer: etcd.peerAddress },
    cluster: own,
    logger,
  };
  const shown: JoinIdentity = { ...identity, token: begin.token ?? null };
  const ask = async (address: string): Promise<JoinAnswer> => {
    const answer = await askToJoin(
      address,
      { id: joiner.id, peerAddress: joiner.own.peer, replace: joiner.replace, own },
      shown,
    );
    if (answer.kind === "untrusted" && shown.tls === null) return needsTls;
    if (answer.kind !== "silent") return answer;
    // An etcd with TLS does not answer a plain request.
    if (await answersClients(address, etcdTlsOf(config), PROBE_MS)) return { kind: "not_a_server" };
    return shown.tls === null && (await speaksTls(address.replace(/^https?:\/\//, ""), PROBE_MS)) ? needsTls : answer;
  };
  return { ask: () => untilAdded(begin.join, ask, { ...joiner, limits }) };
}

const needsTls: JoinAnswer = {
  kind: "untrusted",
  why: "it answers with TLS only, and this server has no api.tls_cert, api.tls_key and api.tls_ca",
};

interface Joiner {
  readonly id: string;
  readonly replace: boolean;
  readonly own: MemberPlace;
  /** The cluster that it belongs to already; `null` for a new server. */
  readonly cluster: KnownIdentity | null;
  readonly logger: Pick<Logger, "info">;
}

async function untilAdded(
  addresses: readonly string[],
  ask: (address: string) => Promise<JoinAnswer>,
  { limits, ...joiner }: Joiner & { readonly limits: JoinLimits },
): Promise<Begin> {
  const { logger } = joiner;
  const startedAt = performance.now();
  let reportAt = startedAt;
  logger.info({ addresses }, "joining the cluster");
  for (;;) {
    const reasons: string[] = [];
    let isBusy = false;
    for (const address of addresses) {
      const next = decideJoin(await ask(address), { address, ...joiner });
      if (next.kind === "begin") {
        logger.info({ address }, "the cluster added this server; starting its etcd member");
        return next.begin;
      }
      if (next.kind === "give_up") throw next.error;
      reasons.push(`${address}: ${next.why}`);
      isBusy ||= next.isBusy;
    }
    const now = performance.now();
    if (now + PAUSE_MS > startedAt + (isBusy ? limits.busyMs : limits.withinMs))
      throw new ManagedError("not_taken_in", `no member added this server; ${reasons.join("; ")}`);
    if (now >= reportAt) {
      logger.info({ reasons }, "not added yet; retrying");
      reportAt = now + REPORT_EVERY_MS;
    }
    await sleep(PAUSE_MS);
  }
}

type JoinStep =
  | { readonly kind: "begin"; readonly begin: Begin }
  /** `isBusy`: the cluster adds another member. */
  | { readonly kind: "later"; readonly why: string; readonly isBusy: boolean }
  | { readonly kind: "give_up"; readonly error: ManagedError };

interface JoinAttempt extends Pick<Joiner, "id" | "own" | "cluster"> {
  readonly address: string;
}

export function decideJoin(answer: JoinAnswer, { address, id, own, cluster }: JoinAttempt): JoinStep {
  switch (answer.kind) {
    case "members": {
      const refusal = refuseNewMember(id, cluster, answer.cluster);
      if (refusal !== null) return giveUp(`${address}: ${refusal.problem.detail} ${refusal.problem.hint}`);
      const here = answer.members.find(({ peer }) => peer === own.peer);
      if (here !== undefined && here.name !== "") return { kind: "give_up", error: dataGone(here, id) };
      return { kind: "begin", begin: { kind: "joined", members: namedPlaces(own, answer.members) } };
    }
    case "refused": {
      const { code, detail, hint, retryable, retryAfterSeconds } = answer.problem;
      // A member that was just added does not answer yet.
      const isBusy = code === "majority_at_risk" && retryAfterSeconds !== undefined;
      if (retryable || code === "majority_at_risk") return { kind: "later", why: detail, isBusy };
      const isUnknown = code === "unauthenticated" || code === "forbidden";
      return giveUp(`${address}: ${detail} ${isUnknown ? credentialsHint(id) : hint}`);
    }
    case "untrusted":
      return giveUp(`${address}: ${answer.why}`);
    case "not_a_server":
      // An etcd compares no identities.
      if (cluster !== null)
        return giveUp(
          `${address} is not a Lattice server, and this server belongs to cluster ${cluster.id}: ` +
            "name a server of that cluster after --join, or give this server an empty server.data_dir",
        );
      return { kind: "begin", begin: { kind: "join", endpoints: [address] } };
    case "silent":
      return { kind: "later", why: answer.why, isBusy: false };
  }
}

const giveUp = (message: string): JoinStep => ({ kind: "give_up", error: new ManagedError("not_taken_in", message) });

const credentialsHint = (id: string): string =>
  `Join with a token (lattice admin token create --user ${id} --scope member, then --join-token-file FILE) or with a ` +
  `certificate of the kind server for ${id} in api.tls_cert.`;

const dataGone = ({ name, peer }: MemberPlace, id: string): ManagedError =>
  new ManagedError(
    "already_member",
    `the cluster knows ${name} at ${peer}, but there is no data of it here; ` +
      `to replace it, join again with --replace, or after \`lattice admin raft remove-member ${id}\``,
  );
