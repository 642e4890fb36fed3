// Both ends of a call between servers name their cluster and refuse the other end when it belongs to another one. The
// caller checks the answer as well: an address may lead to a server of another cluster, whatever that server checks.

import { InterceptingCall, type Interceptor, Metadata, type StatusObject, status } from "@grpc/grpc-js";
import type { ClusterIdentity } from "@lattice/core";
import { type Problem, ProblemError } from "@lattice/wire";
import { CLUSTER_HEADER } from "../base/auth/peer-headers.ts";
import { clusterHeader, foreignCluster } from "../base/cluster-identity.ts";
import type { GrpcService } from "../base/grpc/service.ts";
import { statusOf } from "../base/grpc/status.ts";

export interface ClusterCheck {
  readonly own: () => ClusterIdentity | null;
  /** A server of another cluster was refused. */
  readonly refused: (met: { readonly cluster: string; readonly address: string; readonly text: string }) => void;
}

/** For a client of the server at `address`. */
export const checkingCluster =
  (address: string, { own, refused }: ClusterCheck): Interceptor =>
  (options, next) => {
    const met = (metadata: Metadata): string | null => foreignCluster(headerOf(metadata), own());
    const refuse = (cluster: string): StatusObject => {
      const text = `the server at ${address} belongs to cluster ${cluster}, this one to cluster ${own()?.id ?? ""}`;
      refused({ cluster, address, text });
      return { ...statusOf(foreignProblem(text)), metadata: statusOf(foreignProblem(text)).metadata ?? new Metadata() };
    };
    const call = new InterceptingCall(next(options), {
      start(metadata, listener, begin) {
        metadata.set(CLUSTER_HEADER, clusterHeader(own()));
        begin(metadata, {
          // Nothing of the answer is passed on: what is not passed on here holds back the rest.
          onReceiveMetadata(received, pass) {
            const cluster = met(received);
            if (cluster === null) return pass(received);
            listener.onReceiveStatus(refuse(cluster));
            call.cancelWithStatus(status.CANCELLED, "the server belongs to another cluster");
          },
          onReceiveStatus(outcome, pass) {
            const cluster = met(outcome.metadata);
            if (cluster !== null) refuse(cluster);
            pass(outcome);
          },
        });
      },
    });
    return call;
  };

interface CalledBy {
  readonly metadata: Metadata;
  getPeer?(): string;
  sendMetadata?(metadata: Metadata): void;
  emit(event: "error", error: Error): unknown;
}
type Method = (call: CalledBy, reply?: (error: ReturnType<typeof statusOf>) => void) => void;

/** Refuses callers that name another cluster, and names the cluster of this server in the answer. */
export function servingCluster({ definition, implementation }: GrpcService, check: ClusterCheck): GrpcService {
  const wrap =
    (method: Method): Method =>
    (call, reply) => {
      const cluster = foreignCluster(headerOf(call.metadata), check.own());
      if (cluster === null) {
        // Agents compare identities in their first message; only servers send the header.
        if (call.metadata.get(CLUSTER_HEADER).length > 0) call.sendMetadata?.(ownMetadata(check));
        return method(call, reply);
      }
      const address = (call.getPeer?.() ?? "").replace(/:\d+$/, "");
      const text = `a server of cluster ${cluster} at ${address} called a server of cluster ${check.own()?.id ?? ""}`;
      check.refused({ cluster, address, text });
      const outcome = statusOf(foreignProblem(text));
      outcome.metadata?.merge(ownMetadata(check));
      if (reply !== undefined) reply(outcome);
      else call.emit("error", Object.assign(new Error(outcome.details), outcome));
    };
  const entries = Object.entries(implementation as unknown as Readonly<Record<string, Method>>);
  const wrapped = Object.fromEntries(entries.map(([name, method]) => [name, wrap(method)]));
  return { definition, implementation: wrapped as unknown as GrpcService["implementation"] };
}

const headerOf = (metadata: Metadata): string => String(metadata.get(CLUSTER_HEADER)[0] ?? "");

function ownMetadata({ own }: ClusterCheck): Metadata {
  const metadata = new Metadata();
  metadata.set(CLUSTER_HEADER, clusterHeader(own()));
  return metadata;
}

const foreignProblem = (text: string): Problem => new ProblemError("foreign_cluster", { detail: `${text}.` }).problem;
