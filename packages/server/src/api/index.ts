// The API: both listeners over the same handlers. Started last and stopped first, because everything
// behind it must be there while somebody may call.

import { issuerWarning } from "../config/auth.ts";
import type { Config } from "../config/config.ts";
import { formatListen } from "../config/listen.ts";
import type { Logger, Metrics } from "../observe/index.ts";
import type { TlsSource } from "../tls/source.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import { checkExposure } from "./auth/stated.ts";
import type { ControlPlane } from "./control-plane.ts";
import type { GrpcService } from "./grpc/handlers.ts";
import { startGrpc } from "./grpc/server.ts";
import type { Door } from "./invoke.ts";
import { createGate } from "./limits/gate.ts";
import { CLOSE_DEADLINE_MS } from "./limits/limits.ts";
import { startRest } from "./rest/server.ts";

export type { GrpcService } from "./grpc/handlers.ts";

export interface ApiOptions {
  readonly plane: ControlPlane;
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  /** Null: in the clear. */
  readonly tls?: TlsSource | null;
  /** Served on the gRPC port beside the contract's services. */
  readonly extraGrpcServices?: readonly GrpcService[];
}

export interface RunningApi {
  /** host:port, with the port that was really taken. */
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
  const door: Door = { ...options, gate, closing: closing.signal };
  if (config.api.auth.kind === "none")
    logger.warn("authentication is not configured: every caller is an administrator");
  const inTheClear = issuerWarning(config.api.auth);
  if (inTheClear !== null) logger.warn(inTheClear);
  const tls = options.tls ?? null;
  const rest = await startRest(door, config.api.restListen, tls);
  const place = { address: config.api.grpcListen, tls, acceptHttp1: rest.accept };
  const grpc = await startGrpc(door, place, options.extraGrpcServices ?? []).catch(async (error) => {
    await rest.close(0);
    throw error;
  });
  return {
    restAddress: formatListen({ host: config.api.restListen.host, port: rest.port }),
    grpcAddress: formatListen({ host: config.api.grpcListen.host, port: grpc.port }),
    async close() {
      closing.abort();
      await Promise.all([rest.close(CLOSE_DEADLINE_MS), grpc.close(CLOSE_DEADLINE_MS)]);
    },
  };
}
