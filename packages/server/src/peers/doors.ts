// Who comes in by gRPC besides users: agents, by certificate or token, and other servers, by certificate where the cluster
// has an authority. Also where agents get their first and next certificates.

import { createFirstCertificate, type FirstCertificate } from "../agents/first-certificate.ts";
import { type AgentGuard, createAgentGuard } from "../agents/guard.ts";
import { createRenewal, type Renewal, type RenewalOptions } from "../agents/renewal.ts";
import type { Authenticator } from "../api/auth/authenticator.ts";
import type { ControlPlane } from "../api/control-plane.ts";
import type { GrpcService } from "../api/index.ts";
import type { Metrics } from "../observe/index.ts";
import type { TlsSource } from "../tls/source.ts";
import { guardedByCertificate } from "./guard.ts";

export interface Doors {
  readonly guard: AgentGuard;
  peerGuard(service: GrpcService): GrpcService;
  readonly renew: Renewal;
  readonly issueFirst: FirstCertificate;
}

interface Options extends Pick<RenewalOptions, "clock" | "logger"> {
  readonly plane: Pick<ControlPlane, "view" | "liveness" | "propose">;
  readonly tls: TlsSource | null;
  /** Null: the cluster has no tokens. */
  readonly authenticator: Authenticator | null;
  /** Of this server, which the others show. */
  readonly peerToken: string;
  readonly metrics: Pick<Metrics, "agentRefused" | "certificateRenewed">;
}

export function createDoors({ tls, authenticator, peerToken, metrics, plane, ...options }: Options): Doors {
  const certificates = tls !== null && tls.config.ca !== null;
  const guard = createAgentGuard({
    authenticator,
    certificates,
    peerToken,
    ...(tls === null ? {} : { revocations: tls }),
    refused: metrics.agentRefused,
  });
  return {
    guard,
    peerGuard: (service) =>
      certificates ? guardedByCertificate(service, (shown) => tls.current().isRevoked(shown)) : service,
    renew: createRenewal({
      ...options,
      tls,
      known: (node) => plane.view().node(node) !== undefined,
      counted: metrics.certificateRenewed,
    }),
    issueFirst: createFirstCertificate({
      ...options,
      tls,
      guard,
      connected: (node) => plane.liveness(node).connected,
      writeDown: (user, deed) =>
        plane.propose({ kind: "audit.record", origin: { user, requestId: null, bodyHash: "" }, deed }),
      counted: metrics.certificateRenewed,
    }),
  };
}
