// Creates the client on Node.

import { type ClientOptions, createClientOn, type LatticeClient } from "./client.ts";
import { createNodeTransport } from "./transport/node.ts";
import type { OpenWebSocket } from "./transport/web-socket.ts";

export interface NodeClientOptions extends ClientOptions {
  /** Certificate authority (PEM) of the server. Default: the authorities of the system. */
  readonly ca?: string | undefined;
}

export const createClient = ({ ca, ...options }: NodeClientOptions): LatticeClient =>
  createClientOn({ transport: createNodeTransport({ ca }), openWebSocket: webSocketsBy(ca) }, options);

/** Loaded on demand: few calls need a WebSocket. */
const webSocketsBy =
  (ca: string | undefined): OpenWebSocket =>
  async (request) =>
    (await import("./transport/node-web-socket.ts")).openWebSocket(request, ca);
