// Who comes in by gRPC besides users: agents, by certificate or token, and other servers, by certificate where the cluster
// has an authority. Also where agents get their next certificates.

import { type AgentGuard, createAgentGuard } from "../agents/guard.ts";
import { createRenewal, type Renewal, type RenewalOptions } from "../agents/renewal.ts";
import type { Authenticator } from "../api/auth/authenticator.ts";
import type { GrpcService } from "../api/index.ts";
import type { Metrics } from "../observe/index.ts";
import type { TlsSource } from "../tls/source.ts";
import { guardedByCertificate } from "./guard.ts";

export interface Doors {
  readonly guard: AgentGuard;
  peerGuard(service: GrpcService): GrpcService;
  readonly renew: Renewal;
}

interface Options extends Omit<RenewalOptions, "counted"> {
  readonly tls: TlsSource | null;
  /** Null: the cluster has no tokens. */
  readonly authenticator: Authenticator | null;
  /** Of this server, which the others show. */
  readonly peerToken: string;
  readonly metrics: Pick<Metrics, "agentRefused" | "certificateRenewed">;
}

export function createDoors({ tls, authenticator, peerToken, metrics, ...options }: Options): Doors {
  const certificates = tls !== null && tls.config.ca !== null;
  return {
    guard: createAgentGuard({
      authenticator,
      certificates,
      peerToken,
      ...(tls === null ? {} : { revocations: tls }),
      refused: metrics.agentRefused,
    }),
    peerGuard: (service) =>
      certificates ? guardedByCertificate(service, (shown) => tls.current().isRevoked(shown)) : service,
    renew: createRenewal({ ...options, tls, counted: metrics.certificateRenewed }),
  };
}
