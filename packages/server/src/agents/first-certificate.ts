// The first certificate of a node, for an agent that has nothing but a token yet. The token must be one that may speak
// for the node, and no agent of that name may be connected, so that nobody who holds a token for many takes the name of
// a node that is at work. Who got one is in the audit log before it is given out. It is signed here, by the key in
// `api.tls_ca_key`; a server without it says so, and the agent asks another.

import { X509Certificate } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { sendUnaryData } from "@grpc/grpc-js";
import { type Deed, type NodeId, parseNodeId, type UserName } from "@lattice/core";
import { certifyAgent, ProblemError, pb, problemFromRefusal, problemOf } from "@lattice/wire";
import type { Proposed } from "../api/control-plane.ts";
import { statusOf } from "../api/grpc/status.ts";
import type { Clock } from "../clock.ts";
import type { Logger } from "../observe/index.ts";
import type { TlsSource } from "../tls/source.ts";
import type { AgentGuard } from "./guard.ts";
import { whyNotKey } from "./renewal-check.ts";

export type FirstCall = object & { readonly request: pb.IssueCertificateRequest };
export type FirstCertificate = (call: FirstCall, reply: sendUnaryData<pb.IssueCertificateResponse>) => void;

export interface FirstOptions {
  readonly tls: TlsSource | null;
  readonly guard: Pick<AgentGuard, "stranger" | "tokenOf">;
  /** Whether an agent of this node is there now. */
  readonly connected: (node: NodeId) => boolean;
  readonly writeDown: (user: UserName, deed: Deed) => Promise<Proposed>;
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
      throw new ProblemError("forbidden", { detail: "Whoever has a certificate renews it; the first needs a token." });
    const stranger = guard.stranger(call, node);
    if (stranger !== null) throw new ProblemError("forbidden", { detail: `No certificate is issued: ${stranger}.` });
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
