// Opens the ports: the API for users, the agents' service, and the peers' service where several servers share the log.

import type { ControlPlane } from "../api/call/control-plane.ts";
import { startApi } from "../api/index.ts";
import { type ApiContext, invokeForwarded } from "../api/invoke/invoke.ts";
import type { Config } from "../base/config/index.ts";
import type { GrpcService } from "../base/grpc/service.ts";
import type { Logger } from "../base/observe/index.ts";
import { createAgentAddress } from "../nodes/agents/agent-address.ts";
import type { ConnectContext } from "../nodes/agents/connect.ts";
import { failureRules } from "../nodes/agents/report-command.ts";
import { agentService } from "../peers/agent-service.ts";
import { type Authentication, createAuthentication } from "../peers/authentication.ts";
import { type ClusterCheck, servingCluster } from "../peers/check-cluster.ts";
import { forwardTo } from "../peers/forward.ts";
import type { LeaderConnection } from "../peers/leader-connection.ts";
import type { MemberStatusSources } from "../peers/member-status.ts";
import { peerService } from "../peers/service.ts";
import type { ForeignClusters } from "../state/foreign-clusters.ts";
import type { MissingEntries } from "../state/missing-entries.ts";
import type { Leading } from "./leading.ts";
import type { Nodes } from "./nodes.ts";
import type { Storage } from "./storage.ts";

interface ServeParts {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  readonly storage: Storage;
  readonly nodes: Nodes;
  readonly leading: Leading;
  readonly connection: LeaderConnection;
  readonly plane: ControlPlane;
  readonly status: MemberStatusSources;
  readonly cluster: ClusterCheck;
  readonly foreign: ForeignClusters;
  readonly missing: MissingEntries;
}

export function serve(parts: ServeParts): ReturnType<typeof startApi> {
  const { logger, storage, leading, connection, plane } = parts;
  const { tls, live, metrics, clock, self } = storage;
  const config = live.config;
  const authentication = createAuthentication({ tls, config, peerToken: self.token, plane, clock, logger, metrics });
  return startApi({
    plane,
    config,
    logger,
    metrics,
    tls,
    authenticator: authentication.authenticator,
    leader: () => {
      const peer = leading.leads() ? null : connection.client();
      return peer === null ? null : forwardTo(peer);
    },
    extraGrpcServices: (api) => [
      servicesForAgents(parts, authentication),
      ...(storage.isShared ? [servicesForPeers(parts, authentication, api)] : []),
    ],
  });
}

function servicesForAgents({ leading, connection, nodes, ...parts }: ServeParts, auth: Authentication): GrpcService {
  const { clock, replica, live } = parts.storage;
  const context: ConnectContext = {
    clock,
    hub: nodes.hub,
    logger: parts.logger,
    checkpoints: nodes.board,
    view: () => replica.view,
    chain: replica.chain,
    waitFor: replica.waitFor,
    foreign: parts.foreign,
    missing: parts.missing,
    propose: (command) => parts.plane.propose(command),
    serverVersion: parts.version,
    heartbeatIntervalMs: parts.config.nodeAgent.heartbeatInterval,
    callersAuthenticated: parts.config.api.auth.kind !== "none",
    refusal: auth.guard.refusal,
    addressOf: createAgentAddress({
      peerToken: parts.storage.self.token,
      configured: () => live.config.nodeAgent.addresses,
    }),
    imagesAnswered: nodes.images.answered,
    failures: () => failureRules(live.config.faults),
    measured: nodes.measures.record,
    sampled: nodes.samples.record,
    apiUrl: parts.status.apiUrl,
    jobToken: auth.jobToken,
  };
  const { logs, terminals, launches } = nodes;
  const service = servingCluster(
    agentService({
      context,
      leader: leading.leader,
      connection,
      logs,
      terminals,
      launches,
      renew: auth.renew,
      issueFirst: auth.issueFirst,
    }),
    parts.cluster,
  );
  return auth.guard.guarded(service);
}

function servicesForPeers(
  { storage, leading, nodes, status, cluster }: ServeParts,
  auth: Authentication,
  api: ApiContext,
): GrpcService {
  const { replica, history, audit, self } = storage;
  const service = servingCluster(
    peerService({
      leader: leading.leader,
      replica,
      hub: nodes.hub,
      logs: nodes.logs,
      history,
      status,
      run: (call, request, signal) => invokeForwarded(api, call, request, signal),
      audit: audit.archive,
      auditKeys: audit.keys,
      token: self.token,
    }),
    cluster,
  );
  return auth.peerGuard(service);
}
