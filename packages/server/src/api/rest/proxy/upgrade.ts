// WebSockets of services: the upgrade is forwarded, then bytes are relayed in both directions until either end closes
// or the caller's token is no longer valid.

import { type IncomingMessage, request as openRequest } from "node:http";
import type { Duplex } from "node:stream";
import type { ServiceEndpoint } from "@lattice/core";
import { offeredProtocols, ProblemError, SOCKET_PROTOCOL, withoutBearer } from "@lattice/wire";
import { watchToken } from "../../../base/auth/watch-token.ts";
import { PROXY_NAME } from "../../access/rules.ts";
import { type RequestLog, startRequestLog } from "../../call/request-log.ts";
import type { ApiContext } from "../../invoke/invoke.ts";
import { PROXY_CONNECT_MS, PROXY_ENDPOINT_TRIES } from "../../limits/limits.ts";
import { fromUpgrade } from "./from.ts";
import { type ProxiedRequest, towardsService, towardsUpgraded } from "./headers.ts";
import { unreachable } from "./http.ts";
import type { ProxyPath } from "./path.ts";
import { reachableAddress } from "./reach.ts";
import { openTarget } from "./target.ts";

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Including values that a browser can send only in the address. */
  readonly headers: (name: string) => string | undefined;
}

/** Throws the problem, with nothing written, when the service cannot be reached. */
export async function proxyUpgrade(api: ApiContext, proxyPath: ProxyPath, upgrade: Upgrade): Promise<void> {
  const requestLog = startRequestLog(PROXY_NAME, { from: fromUpgrade(upgrade.request, "proxy") }, proxyPath.name);
  try {
    await join(api, proxyPath, upgrade, requestLog);
  } catch (error) {
    requestLog.recordError(error);
    requestLog.end(api);
    throw error;
  }
}

/** The connection is logged when it has ended, with its duration. */
async function join(
  api: ApiContext,
  proxyPath: ProxyPath,
  { request, socket, head, headers }: Upgrade,
  requestLog: RequestLog,
): Promise<void> {
  const target = await openTarget(api, headers, proxyPath.name, requestLog);
  const about = {
    user: target.user,
    prefix: proxyPath.prefix,
    host: request.headers.host ?? "",
    remote: request.socket.remoteAddress ?? "",
  };
  const { answer, upstream, rest } = await tryEndpoints(api, request, proxyPath, target.endpoints, about).catch(
    (error: unknown) => {
      target.leave();
      throw error;
    },
  );
  socket.write(
    `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${upgradedHeaders(answer)}${chosen(request, answer)}\r\n`,
  );
  if (rest.length > 0) socket.write(rest);
  if (head.length > 0) upstream.write(head);
  const watch = watchToken(api, headers, () => socket.destroy(), target.same);
  let open = true;
  const end = (): void => {
    if (!open) return;
    open = false;
    watch.close();
    target.leave();
    upstream.destroy();
    socket.destroy();
    const lapsed = watch.lapsed();
    if (lapsed !== null) requestLog.recordError(lapsed);
    requestLog.end(api);
  };
  for (const side of [socket, upstream]) side.once("close", end).once("error", end);
  socket.pipe(upstream);
  upstream.pipe(socket);
  // Either end may have closed during the upgrade.
  if (socket.destroyed || upstream.destroyed) end();
}

async function tryEndpoints(
  api: ApiContext,
  request: IncomingMessage,
  proxyPath: ProxyPath,
  endpoints: readonly ServiceEndpoint[],
  about: Omit<ProxiedRequest, "endpoint">,
): Promise<Answered> {
  const tried = endpoints.slice(0, PROXY_ENDPOINT_TRIES);
  for (const [n, endpoint] of tried.entries()) {
    try {
      const { address } = await reachableAddress(api, endpoint);
      return await ask(request, address, proxyPath.path, { ...about, endpoint });
    } catch (error) {
      if (n === tried.length - 1) throw unreachable(endpoint, error);
    }
  }
  throw new ProblemError("unknown_service", { detail: "The service has no endpoints." });
}

interface Answered {
  readonly answer: IncomingMessage;
  readonly upstream: Duplex;
  readonly rest: Buffer;
}

function ask(request: IncomingMessage, host: string, path: string, proxied: ProxiedRequest): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { port } = proxied.endpoint;
    const outgoing = openRequest({
      host,
      port,
      path,
      method: "GET",
      headers: {
        ...towardsService(request.headers, proxied),
        ...ownProtocols(request.headers["sec-websocket-protocol"]),
        connection: "Upgrade",
        upgrade: request.headers.upgrade,
      },
      agent: false,
      timeout: PROXY_CONNECT_MS,
    });
    outgoing.once("upgrade", (answer, upstream, rest) => {
      upstream.setTimeout(0);
      resolve({ answer, upstream, rest });
    });
    // The service answered without upgrading, so the body cannot be relayed.
    outgoing.once("response", (answer) => {
      outgoing.destroy();
      reject(new Error(`it answered ${answer.statusCode}`));
    });
    outgoing.once("timeout", () => outgoing.destroy(new Error("no answer")));
    outgoing.once("error", reject);
    outgoing.end();
  });
}

/** Removes the token, which is for this server. */
function ownProtocols(header: string | undefined): { "sec-websocket-protocol"?: string | undefined } {
  if (header === undefined) return {};
  const left = withoutBearer(offeredProtocols(header));
  return { "sec-websocket-protocol": left.length === 0 ? undefined : left.join(", ") };
}

/** Browsers require a chosen protocol. The service does not see ours, so it may have chosen none. */
function chosen({ headers }: IncomingMessage, answer: IncomingMessage): string {
  const offered = offeredProtocols(headers["sec-websocket-protocol"]);
  const ours = answer.headers["sec-websocket-protocol"] === undefined && offered.includes(SOCKET_PROTOCOL);
  return ours ? `sec-websocket-protocol: ${SOCKET_PROTOCOL}\r\n` : "";
}

function upgradedHeaders(answer: IncomingMessage): string {
  const lines = Object.entries(towardsUpgraded(answer.headers)).map(([name, value]) => `${name}: ${value}\r\n`);
  return lines.join("");
}
