// Renews the certificate of an agent that has a valid one: for the same node, and for a key whose possession the agent
// proves. The key in `api.tls_ca_key` signs; a server without it refuses, and the agent tries another server. Streams
// opened with the old certificate stay open.

import { X509Certificate } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { sendUnaryData } from "@grpc/grpc-js";
import { type NodeId, parseNodeId } from "@lattice/core";
import { bearerOf, certifyAgain, ProblemError, pb, problemOf } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import { statusOf } from "../../base/grpc/status.ts";
import type { Logger } from "../../base/observe/index.ts";
import { type CertifiedCall, certificateOf } from "../../base/tls/shown.ts";
import type { TlsSource } from "../../base/tls/source.ts";
import { renewalProblem } from "./renewal-check.ts";

type RenewalCall = CertifiedCall & { readonly request: pb.RenewCertificateRequest };
export type Renewal = (call: RenewalCall, reply: sendUnaryData<pb.RenewCertificateResponse>) => void;

export interface RenewalOptions {
  readonly tls: TlsSource | null;
  /** Returns whether the cluster has this node. */
  readonly known: (node: NodeId) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counted: (result: "issued" | "refused") => void;
}

/** An agent that repeats its request must not keep a server busy with signing. Share of the certificate's lifetime. */
const MIN_INTERVAL_SHARE = 0.05;
const MAX_INTERVAL_MS = 60_000;

export function createRenewal(options: RenewalOptions): Renewal {
  const { tls, clock, logger, counted } = options;
  /** When each node last received a certificate; bounded by the number of nodes. */
  const issuedAt = new Map<NodeId, number>();

  async function renew(call: RenewalCall): Promise<pb.RenewCertificateResponse> {
    const shown = certificateOf(call);
    const signer = tls?.current().signer ?? null;
    if (tls === null || signer === null)
      throw new ProblemError("unsupported_feature", { detail: "This server does not renew certificates." });
    if (shown === null)
      throw new ProblemError("unauthenticated", { detail: "Only a valid certificate can be renewed." });
    const { nodeId, publicKey, proof } = call.request;
    const node = parseNodeId(nodeId);
    const now = clock.now();
    if (node === null) throw new ProblemError("invalid_argument", { detail: "node_id is not a valid node name." });
    const request = { bearer: bearerOf(shown), raw: shown.raw, node, publicKey, proof };
    const problem = renewalProblem(request, { authority: signer.cert, nowMs: now });
    if (problem !== null) throw new ProblemError(problem.code, { detail: problem.detail });
    if (!options.known(node)) throw new ProblemError("unknown_node", { detail: `This cluster has no node "${node}".` });
    const lifetimeMs = tls.config.agentLifetime;
    const intervalMs = Math.min(MAX_INTERVAL_MS, lifetimeMs * MIN_INTERVAL_SHARE);
    if (now - (issuedAt.get(node) ?? Number.NEGATIVE_INFINITY) < intervalMs)
      throw new ProblemError("rate_limited", { detail: `The certificate of "${node}" was renewed a moment ago.` });
    issuedAt.set(node, now);
    const certificate = await certifyAgain(signer, { old: shown.raw, lifetimeMs }, publicKey);
    const { serialNumber: serial, validTo: until } = new X509Certificate(certificate);
    // The authority revokes a certificate by its serial number.
    logger.info({ node, serial, until }, "agent certificate renewed");
    return create(pb.RenewCertificateResponseSchema, { certificate });
  }

  return (call, reply) => {
    renew(call).then(
      (response) => {
        counted("issued");
        reply(null, response);
      },
      (error: unknown) => {
        counted("refused");
        logger.warn({ node: call.request.nodeId.slice(0, 64), err: error }, "agent certificate not renewed");
        reply(statusOf(problemOf(error)));
      },
    );
  };
}
