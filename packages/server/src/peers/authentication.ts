// The authentication of all callers: users and jobs, agents by certificate or token, and other servers by certificate in
// a cluster with an authority. Also issues the certificates of agents and the tokens of jobs.

import type { ControlPlane } from "../api/call/control-plane.ts";
import { type Authenticator, createAuthenticator } from "../base/auth/authenticator.ts";
import { jobKeysOf } from "../base/auth/job-tokens.ts";
import type { Config } from "../base/config/index.ts";
import type { GrpcService } from "../base/grpc/service.ts";
import { type AccessLine, accessLog } from "../base/observe/access-log.ts";
import type { Metrics } from "../base/observe/index.ts";
import type { TlsSource } from "../base/tls/source.ts";
import { createFirstCertificate, type FirstCertificate } from "../nodes/agents/first-certificate.ts";
import { type AgentGuard, createAgentGuard } from "../nodes/agents/guard.ts";
import { createJobToken, type JobToken } from "../nodes/agents/job-token.ts";
import { createRenewal, type Renewal, type RenewalOptions } from "../nodes/agents/renewal.ts";
import { guardedByCertificate } from "./guard.ts";

export interface Authentication {
  readonly authenticator: Authenticator;
  readonly jobToken: JobToken;
  readonly guard: AgentGuard;
  peerGuard(service: GrpcService): GrpcService;
  readonly renew: Renewal;
  readonly issueFirst: FirstCertificate;
}

interface Options extends Pick<RenewalOptions, "clock" | "logger"> {
  readonly plane: Pick<ControlPlane, "view" | "liveness" | "propose">;
  readonly config: Pick<Config, "api" | "log">;
  readonly tls: TlsSource | null;
  /** The token of this server, which other servers present. */
  readonly peerToken: string;
  readonly metrics: Pick<Metrics, "agentRefused" | "certificateRenewed">;
}

export function createAuthentication({ tls, config, peerToken, metrics, plane, ...options }: Options): Authentication {
  const certificates = tls !== null && tls.config.ca !== null;
  const { auth } = config.api;
  const jobKeys = () => jobKeysOf(plane.view(), options.clock.now());
  const authenticator = createAuthenticator(auth, {
    jobKeys,
    ...(certificates ? { certificates: { isRevoked: (shown) => tls.current().isRevoked(shown) } } : {}),
  });
  const logAccess = (line: AccessLine) => accessLog({ config, logger: options.logger }, line);
  const guard = createAgentGuard({
    authenticator: auth.kind === "none" ? null : authenticator,
    certificates,
    peerToken,
    config,
    agentUris: config.api.spiffeAgents,
    ...(tls === null ? {} : { revocations: tls }),
    enrolments: { view: () => plane.view(), now: () => options.clock.now() },
    refused(line) {
      metrics.agentRefused();
      logAccess(line);
    },
  });
  return {
    authenticator,
    jobToken: createJobToken(auth, () => options.clock.now(), jobKeys),
    guard,
    peerGuard: (service) =>
      certificates ? guardedByCertificate(service, (shown) => tls.current().isRevoked(shown), logAccess) : service,
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
      audit: (user, action) =>
        plane.propose({ kind: "audit.record", origin: { user, requestId: null, bodyHash: "" }, action }),
      enrol: (use) => plane.propose({ kind: "enrolment.use", ...use }),
      counted: metrics.certificateRenewed,
    }),
  };
}
