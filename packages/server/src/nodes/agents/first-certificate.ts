// Issues the first certificate of a node to an agent with a token. The token must be valid for the node, and no agent of
// that name may be connected, so that a token for many nodes cannot take over a live node. The audit record is written
// before the certificate is issued. The key in `api.tls_ca_key` signs; a server without it refuses, and the agent tries
// another server.

import { X509Certificate } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { sendUnaryData } from "@grpc/grpc-js";
import { type AuditAction, type NodeId, parseNodeId, type UserName } from "@lattice/core";
import { certifyAgent, ProblemError, pb, problemFromRefusal, problemOf } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import { statusOf } from "../../base/grpc/status.ts";
import type { Logger } from "../../base/observe/index.ts";
import type { TlsSource } from "../../base/tls/source.ts";
import type { Committed } from "../../state/committed.ts";
import type { AgentGuard } from "./guard.ts";
import { whyNotKey } from "./renewal-check.ts";

export type FirstCall = object & { readonly request: pb.IssueCertificateRequest };
export type FirstCertificate = (call: FirstCall, reply: sendUnaryData<pb.IssueCertificateResponse>) => void;

export interface FirstOptions {
  readonly tls: TlsSource | null;
  readonly guard: Pick<AgentGuard, "refusal" | "tokenOf">;
  /** Whether an agent of this node is there now. */
  readonly connected: (node: NodeId) => boolean;
  readonly writeDown: (user: UserName, details: AuditAction) => Promise<Committed>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counted: (result: "first" | "refused") => void;
}

/** One that asks again and again must not keep a server busy with signing, nor fill the audit log. */
const LEAST_GAP_MS = 10_000;
/** A token for many nodes must not fill the memory with names. */
const MOST_REMEMBERED = 10_000;

export function createFirstCertificate(options: FirstOptions): FirstCertificate {
  const { tls, guard, clock, logger, counted } = options;
  /** When each node was last given one. */
  const given = new Map<NodeId, number>();

  async function issue(call: FirstCall): Promise<pb.IssueCertificateResponse> {
    const signer = tls?.current().signer ?? null;
    if (tls === null || signer === null)
      throw new ProblemError("unsupported_feature", { detail: "This server does not issue certificates." });
    const { nodeId, publicKey, proof } = call.request;
    const node = parseNodeId(nodeId);
    if (node === null) throw new ProblemError("invalid_argument", { detail: "node_id is not the name of a node." });
    const user = guard.tokenOf(call);
    if (user === null)
      throw new ProblemError("forbidden", {
        detail: "An agent with a certificate renews it; the first certificate needs a token.",
      });
    const refusal = guard.refusal(call, node);
    if (refusal !== null) throw new ProblemError("forbidden", { detail: `No certificate is issued: ${refusal}.` });
    const why = whyNotKey({ node, publicKey, proof });
    if (why !== null) throw new ProblemError(why.code, { detail: why.detail });
    if (options.connected(node))
      throw new ProblemError("conflict", { detail: `An agent of "${node}" is connected already.` });
    remember(node);
    const certificate = await certifyAgent(signer, { name: node, lifetimeMs: tls.config.agentLifetime }, publicKey);
    const { serialNumber: serial, validTo: until } = new X509Certificate(certificate);
    const detail = `the first, number ${serial.toLowerCase()}, until ${until}`;
    const { outcome } = await options.writeDown(user, { action: "certificate.issue", scope: "access", node, detail });
    if (outcome.kind === "rejected") throw ProblemError.of(problemFromRefusal(outcome.refusal));
    logger.info({ node, user, serial, until }, "an agent has its first certificate");
    return create(pb.IssueCertificateResponseSchema, { certificate });
  }

  function remember(node: NodeId): void {
    const now = clock.now();
    if (now - (given.get(node) ?? Number.NEGATIVE_INFINITY) < LEAST_GAP_MS)
      throw new ProblemError("rate_limited", { detail: `"${node}" was given a certificate just now.` });
    given.delete(node);
    given.set(node, now);
    const [oldest] = given.keys();
    if (given.size > MOST_REMEMBERED && oldest !== undefined) given.delete(oldest);
  }

  return (call, reply) => {
    issue(call).then(
      (response) => {
        counted("first");
        reply(null, response);
      },
      (error: unknown) => {
        counted("refused");
        logger.warn({ node: call.request.nodeId.slice(0, 64), err: error }, "no first certificate is issued");
        reply(statusOf(problemOf(error)));
      },
    );
  };
}
