// The identity of a cluster in messages, and the refusal of a server that belongs to another cluster.

import { type ClusterIdentity, isClusterId, judgeIdentity, type KnownIdentity } from "@lattice/core";
import { ProblemError } from "@lattice/wire";

/** Returns the identity as a header; empty while it is not known. The former identities tell that a log is still replayed. */
export const clusterHeader = (identity: ClusterIdentity | null): string =>
  identity === null ? "" : [identity.id, ...identity.former].join(",");

/** Returns the id of the other side's cluster when it is another one than `own`; `null` while one of them is not known. */
export function foreignCluster(header: string, own: ClusterIdentity | null): string | null {
  const [id = "", ...former] = header.split(",");
  if (!isClusterId(id) || own === null) return null;
  return id === own.id || own.former.includes(id) || former.includes(own.id) ? null : id;
}

interface NamedCluster {
  readonly clusterId: string;
  readonly clusterGeneration: number;
  readonly formerClusterIds: readonly string[];
}

/** Returns `null` when the message names no cluster. */
export const identityFromProto = (named: NamedCluster): ClusterIdentity | null =>
  isClusterId(named.clusterId)
    ? { id: named.clusterId, generation: named.clusterGeneration, former: named.formerClusterIds }
    : null;

export const identityToProto = (identity: ClusterIdentity | null) =>
  identity === null
    ? {}
    : {
        clusterId: identity.id,
        clusterGeneration: identity.generation,
        formerClusterIds: [...identity.former],
      };

/** Judges a server that wants to join, from the cluster that it has stored. `null`: it may be a member. */
export function refuseNewMember(
  id: string,
  stored: KnownIdentity | null,
  cluster: ClusterIdentity | null,
): ProblemError | null {
  if (stored === null) return null;
  if (cluster === null)
    return new ProblemError("log_unavailable", { detail: "The identity of this cluster is not known yet." });
  const { kind } = judgeIdentity(stored, cluster);
  if (kind === "same") return null;
  const detail =
    kind === "foreign"
      ? `${id} belongs to cluster ${stored.id}, and these servers to cluster ${cluster.id}.`
      : `${id} took part in a restore of a backup that these servers do not have.`;
  return new ProblemError("foreign_cluster", {
    detail,
    hint: "Check the addresses after --join. To move the server to this cluster, give it an empty server.data_dir.",
  });
}
