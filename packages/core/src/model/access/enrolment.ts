// An enrolment: one token with which a number of new nodes obtain their first certificates. The state has the hash of
// its secret alone; the servers check the address of a node before they propose its use.

import type { Duration, Instant, NodeId, UserName } from "../../base/ids.ts";
import { isCount, isText, type Problems, problemList } from "../checks.ts";

export interface Enrolment {
  readonly id: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  /** The number of nodes that may use it. */
  readonly limit: number;
  readonly until: Instant;
  /** Networks in CIDR notation from which nodes may use it; empty: all. */
  readonly networks: readonly string[];
  readonly by: UserName;
  readonly at: Instant;
  /** Nodes that used it, in order. A node that repeats its request counts once. */
  readonly nodes: readonly NodeId[];
}

/** Valid and expired ones together; a site has a few. */
export const MAX_ENROLMENTS = 100;
const MAX_ENROLMENT_NODES = 10_000;
export const MAX_ENROLMENT_NETWORKS = 16;
const DAY_MS = 86_400_000;
/** A forgotten token must not stay valid for years. */
const MAX_ENROLMENT_MS = 90 * DAY_MS;

const ID = /^[0-9a-f]{12}$/;
const HASH = /^[0-9a-f]{64}$/;
/** Longest network in text, as an IPv6 address with its prefix. */
const MAX_NETWORK_TEXT = 49;

type Terms = Pick<Enrolment, "id" | "hash" | "limit" | "networks"> & { readonly lifetime: Duration };

export function checkEnrolment({ id, hash, limit, networks, lifetime }: Terms): Problems {
  const problems = problemList();
  problems.unless(ID.test(id), "id", "is not the id of an enrolment");
  problems.unless(HASH.test(hash), "hash", "is not a hash");
  problems.unless(isCount(limit, 1, MAX_ENROLMENT_NODES), "max_nodes", `must be 1 to ${MAX_ENROLMENT_NODES}`);
  const most = `must be 1 second to ${MAX_ENROLMENT_MS / DAY_MS} days`;
  problems.unless(isCount(lifetime, 1_000, MAX_ENROLMENT_MS), "valid_seconds", most);
  const few = networks.length <= MAX_ENROLMENT_NETWORKS && networks.every((one) => isText(one, MAX_NETWORK_TEXT));
  problems.unless(few, "networks", `must be at most ${MAX_ENROLMENT_NETWORKS} networks such as 10.1.0.0/16`);
  return problems;
}
