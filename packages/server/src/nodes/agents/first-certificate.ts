// Issues the first certificate of a node to an agent with a token. The token must be valid for the node, and no agent of
// that name may be connected, so that a token for many nodes cannot take over a live node. The use of an enrolment is
// counted, and the audit record written, before the certificate is issued. The key in `api.tls_ca_key` signs; a server without it refuses, and the agent tries
// another server.

import { X509Certificate } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { sendUnaryData } from "@grpc/grpc-js";
import { type AuditAction, type NodeId, parseNodeId, type UseEnrolmentCommand, type UserName } from "@lattice/core";
import { certifyAgent, ProblemError, pb, problemFromRefusal, problemOf } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import { statusOf } from "../../base/grpc/status.ts";
import type { Logger } from "../../base/observe/index.ts";
import type { TlsSource } from "../../base/tls/source.ts";
import type { Committed } from "../../state/committed.ts";
import type { AgentGuard } from "./guard.ts";
import { keyProblem } from "./renewal-check.ts";

type FirstCall = object & { readonly request: pb.IssueCertificateRequest };
export type FirstCertificate = (call: FirstCall, reply: sendUnaryData<pb.IssueCertificateResponse>) => void;

export interface FirstOptions {
  readonly tls: TlsSource | null;
  readonly guard: Pick<AgentGuard, "refusal" | "tokenOf" | "enrolmentOf">;
  /** Returns whether an agent of this node is connected. */
  readonly connected: (node: NodeId) => boolean;
  readonly audit: (user: UserName, details: AuditAction) => Promise<Committed>;
  /** Counts the node and writes the audit record, or rejects the use. */
  readonly enrol: (use: Omit<UseEnrolmentCommand, "kind">) => Promise<Committed>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counted: (result: "first" | "refused") => void;
}

/** An agent that repeats its request must neither keep a server busy with signing nor fill the audit log. */
const MIN_INTERVAL_MS = 10_000;
/** A token for many nodes must not fill the memory with names. */
const MAX_REMEMBERED = 10_000;

export function createFirstCertificate(options: FirstOptions): FirstCertificate {
  const { tls, guard, clock, logger, counted } = options;
  /** When each node last received a certificate. */
  const issuedAt = new Map<NodeId, number>();

  async function issue(call: FirstCall): Promise<pb.IssueCertificateResponse> {
    const signer = tls?.current().signer ?? null;
    if (tls === null || signer === null)
      throw new ProblemError("unsupported_feature", { detail: "This server does not issue certificates." });
    const { nodeId, publicKey, proof } = call.request;
    const node = parseNodeId(nodeId);
    if (node === null) throw new ProblemError("invalid_argument", { detail: "node_id is not a valid node name." });
    const user = guard.tokenOf(call);
    const enrolment = guard.enrolmentOf(call);
    if (user === null && enrolment === null)
      throw new ProblemError("forbidden", {
        detail: "An agent with a certificate renews it; the first certificate needs a token.",
      });
    const refusal = guard.refusal(call, node);
    if (refusal !== null) throw new ProblemError("forbidden", { detail: `No certificate is issued: ${refusal}.` });
    const problem = keyProblem({ node, publicKey, proof });
    if (problem !== null) throw new ProblemError(problem.code, { detail: problem.detail });
    if (options.connected(node))
      throw new ProblemError("conflict", { detail: `An agent of "${node}" is connected already.` });
    remember(node);
    const certificate = await certifyAgent(signer, { name: node, lifetimeMs: tls.config.agentLifetime }, publicKey);
    const { serialNumber: serial, validTo: until } = new X509Certificate(certificate);
    const detail = `first certificate, serial ${serial.toLowerCase()}, valid until ${until}`;
    const { outcome } =
      user !== null
        ? await options.audit(user, { action: "certificate.issue", scope: "access", node, detail })
        : await options.enrol({ id: enrolment?.id ?? "", node, detail: `${detail}, to ${enrolment?.address}` });
    if (outcome.kind === "rejected") throw ProblemError.of(problemFromRefusal(outcome.refusal));
    const by = user ?? `enrolment-${enrolment?.id}`;
    logger.info({ node, user: by, serial, until }, "first agent certificate issued");
    return create(pb.IssueCertificateResponseSchema, { certificate });
  }

  function remember(node: NodeId): void {
    const now = clock.now();
    if (now - (issuedAt.get(node) ?? Number.NEGATIVE_INFINITY) < MIN_INTERVAL_MS)
      throw new ProblemError("rate_limited", { detail: `Node "${node}" received a certificate a moment ago.` });
    issuedAt.delete(node);
    issuedAt.set(node, now);
    const [oldest] = issuedAt.keys();
    if (issuedAt.size > MAX_REMEMBERED && oldest !== undefined) issuedAt.delete(oldest);
  }

  return (call, reply) => {
    issue(call).then(
      (response) => {
        counted("first");
        reply(null, response);
      },
      (error: unknown) => {
        counted("refused");
        logger.warn({ node: call.request.nodeId.slice(0, 64), err: error }, "first agent certificate not issued");
        reply(statusOf(problemOf(error)));
      },
    );
  };
}
