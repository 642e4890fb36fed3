// The API: both listeners over the same handlers. Started last and stopped first, so that every call finds the parts
// behind it.

import type { Authenticator } from "../base/auth/authenticator.ts";
import { checkExposure } from "../base/auth/stated.ts";
import type { Config } from "../base/config/index.ts";
import { formatListen, issuerWarning } from "../base/config/index.ts";
import type { GrpcService } from "../base/grpc/service.ts";
import type { Logger, Metrics } from "../base/observe/index.ts";
import type { TlsSource } from "../base/tls/source.ts";
import type { ControlPlane } from "./call/control-plane.ts";
import type { Forward } from "./call/forward.ts";
import { startGrpc } from "./grpc/server.ts";
import type { ApiContext } from "./invoke/invoke.ts";
import { createGate } from "./limits/gate.ts";
import { CLOSE_DEADLINE_MS } from "./limits/limits.ts";
import { startRest } from "./rest/server.ts";

interface ApiOptions {
  readonly plane: ControlPlane;
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  /** `null` for plain text. Default: `null`. */
  readonly tls?: TlsSource | null;
  /** Returns the way to the leader; `null` when this server leads or knows no leader. Default: always `null`. */
  readonly leader?: () => Forward | null;
  /** Further services on the gRPC port: agents and peers. */
  readonly extraGrpcServices?: (api: ApiContext) => readonly GrpcService[];
}

export interface RunningApi {
  /** host:port, with the actual port. */
  readonly restAddress: string;
  readonly grpcAddress: string;
  /** Ends streams with `shutting_down`, lets requests finish, and resolves within a deadline. */
  close(): Promise<void>;
}

export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { config, logger } = options;
  checkExposure(config.api);
  const closing = new AbortController();
  const gate = createGate({
    limits: () => config.rateLimits,
    identified: config.api.auth.kind !== "none",
    refused: options.metrics.rateLimited,
  });
  const listening = new Set<number>();
  const leader = options.leader ?? (() => null);
  const api: ApiContext = { ...options, leader, gate, listening, closing: closing.signal };
  if (config.api.auth.kind === "none")
    logger.warn("authentication is not configured: every caller is an administrator");
  const warning = issuerWarning(config.api.auth);
  if (warning !== null) logger.warn(warning);
  const tls = options.tls ?? null;
  const rest = await startRest(api, config.api.restListen, tls);
  const listen = { address: config.api.grpcListen, tls, acceptHttp1: rest.accept };
  const grpc = await startGrpc(api, listen, options.extraGrpcServices?.(api) ?? []).catch(async (error) => {
    await rest.close(0);
    throw error;
  });
  for (const { port } of [rest, grpc]) listening.add(port);
  return {
    restAddress: formatListen({ host: config.api.restListen.host, port: rest.port }),
    grpcAddress: formatListen({ host: config.api.grpcListen.host, port: grpc.port }),
    async close() {
      closing.abort();
      await Promise.all([rest.close(CLOSE_DEADLINE_MS), grpc.close(CLOSE_DEADLINE_MS)]);
    },
  };
}
