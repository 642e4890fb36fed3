// The client as programs on Node make it.

import { type ClientOptions, createClientOn, type LatticeClient } from "./client.ts";
import { createNodeTransport } from "./transport/node.ts";
import type { OpenWebSocket } from "./transport/web-socket.ts";

export interface NodeClientOptions extends ClientOptions {
  /** Authority (PEM) that the server's certificate must come from; default: the authorities of the system. */
  readonly ca?: string | undefined;
}

export const createClient = ({ ca, ...options }: NodeClientOptions): LatticeClient =>
  createClientOn({ transport: createNodeTransport({ ca }), openWebSocket: webSocketsBy(ca) }, options);

/** Few calls need it, so it is loaded when one does. */
const webSocketsBy =
  (ca: string | undefined): OpenWebSocket =>
  async (request) =>
    (await import("./transport/node-web-socket.ts")).openWebSocket(request, ca);
