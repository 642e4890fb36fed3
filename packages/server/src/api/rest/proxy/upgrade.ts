// WebSockets of services: the upgrade is passed on, and from then on bytes in both directions, until either end closes
// or the caller's token is no longer good.

import { type IncomingMessage, request as openRequest } from "node:http";
import type { Duplex } from "node:stream";
import type { ServiceEndpoint } from "@lattice/core";
import { offeredProtocols, ProblemError, SOCKET_PROTOCOL, withoutBearer } from "@lattice/wire";
import { watchToken } from "../../../base/auth/watch-token.ts";
import { PROXY_NAME } from "../../access/rules.ts";
import type { ApiContext } from "../../invoke.ts";
import { PROXY_CONNECT_MS, PROXY_ENDPOINT_TRIES } from "../../limits/limits.ts";
import { type RequestLog, startRequestLog } from "../../request-log.ts";
import { fromUpgrade } from "../from.ts";
import { type Passing, towardsService } from "./headers.ts";
import { unreachable } from "./http.ts";
import type { Place } from "./place.ts";
import { openTarget } from "./target.ts";

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** With what a browser can only state in the address. */
  readonly headers: (name: string) => string | undefined;
}

/** Throws the problem, with nothing written, when the service cannot be asked. */
export async function passUpgrade(door: ApiContext, place: Place, upgrade: Upgrade): Promise<void> {
  const visit = startRequestLog(PROXY_NAME, { from: fromUpgrade(upgrade.request, "proxy") }, place.name);
  try {
    await join(door, place, upgrade, visit);
  } catch (error) {
    visit.recordError(error);
    visit.end(door);
    throw error;
  }
}

/** Written down when the connection has ended, with how long it lasted. */
async function join(
  door: ApiContext,
  place: Place,
  { request, socket, head, headers }: Upgrade,
  visit: RequestLog,
): Promise<void> {
  const target = await openTarget(door, headers, place.name, visit);
  const about = {
    user: target.user,
    prefix: place.prefix,
    host: request.headers.host ?? "",
    remote: request.socket.remoteAddress ?? "",
  };
  const { answer, upstream, rest } = await askEach(request, place, target.endpoints, about).catch((error: unknown) => {
    target.leave();
    throw error;
  });
  socket.write(
    `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${rawHeaders(answer)}${chosen(request, answer)}\r\n`,
  );
  if (rest.length > 0) socket.write(rest);
  if (head.length > 0) upstream.write(head);
  const watch = watchToken(door, headers, () => socket.destroy(), target.same);
  let open = true;
  const end = (): void => {
    if (!open) return;
    open = false;
    watch.close();
    target.leave();
    upstream.destroy();
    socket.destroy();
    const lapsed = watch.lapsed();
    if (lapsed !== null) visit.recordError(lapsed);
    visit.end(door);
  };
  for (const side of [socket, upstream]) side.once("close", end).once("error", end);
  socket.pipe(upstream);
  upstream.pipe(socket);
  // It may have gone while the service was asked.
  if (socket.destroyed || upstream.destroyed) end();
}

async function askEach(
  request: IncomingMessage,
  place: Place,
  endpoints: readonly ServiceEndpoint[],
  about: Omit<Passing, "endpoint">,
): Promise<Answered> {
  const tried = endpoints.slice(0, PROXY_ENDPOINT_TRIES);
  for (const [n, endpoint] of tried.entries()) {
    try {
      return await ask(request, place.path, { ...about, endpoint });
    } catch (error) {
      if (n === tried.length - 1) throw unreachable(endpoint, error);
    }
  }
  throw new ProblemError("unknown_service", { detail: "It is gone." });
}

interface Answered {
  readonly answer: IncomingMessage;
  readonly upstream: Duplex;
  readonly rest: Buffer;
}

function ask(request: IncomingMessage, path: string, passing: Passing): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { address, port } = passing.endpoint;
    const outgoing = openRequest({
      host: address,
      port,
      path,
      method: "GET",
      headers: {
        ...towardsService(request.headers, passing),
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

/** The token among them is for this server. */
function ownProtocols(header: string | undefined): { "sec-websocket-protocol"?: string | undefined } {
  if (header === undefined) return {};
  const left = withoutBearer(offeredProtocols(header));
  return { "sec-websocket-protocol": left.length === 0 ? undefined : left.join(", ") };
}

/** A browser that offers protocols wants one chosen, also where the service, which did not see ours, has chosen none. */
function chosen({ headers }: IncomingMessage, answer: IncomingMessage): string {
  const offered = offeredProtocols(headers["sec-websocket-protocol"]);
  const ours = answer.headers["sec-websocket-protocol"] === undefined && offered.includes(SOCKET_PROTOCOL);
  return ours ? `sec-websocket-protocol: ${SOCKET_PROTOCOL}\r\n` : "";
}

function rawHeaders({ rawHeaders: raw }: IncomingMessage): string {
  let text = "";
  for (let i = 0; i < raw.length; i += 2) text += `${raw[i]}: ${raw[i + 1]}\r\n`;
  return text;
}
