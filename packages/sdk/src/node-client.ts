// The client as programs on Node make it.

import { type ClientOptions, createClientOn, type LatticeClient } from "./client.ts";
import { createNodeTransport } from "./transport/node.ts";
import type { OpenWebSocket } from "./transport/web-socket.ts";

export const createClient = (options: ClientOptions): LatticeClient =>
  createClientOn({ transport: createNodeTransport(), openWebSocket }, options);

/** Few calls need it, so it is loaded when one does. */
const openWebSocket: OpenWebSocket = async (request) =>
  (await import("./transport/node-web-socket.ts")).openWebSocket(request);
