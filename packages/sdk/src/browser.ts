// The public surface of the client library in a browser: the same client over fetch and the browser's WebSocket.
// Neither this file nor its imports use a module of Node; a test bundles it to check.

import { type ClientOptions, createClientOn, type LatticeClient } from "./client.ts";
import { openBrowserWebSocket } from "./transport/browser-web-socket.ts";
import { createFetchTransport } from "./transport/fetch.ts";

export type * from "../gen/calls.ts";
export type * from "../gen/types.ts";
export type { CallOptions, ChangeOptions } from "./call.ts";
export type { ClientOptions, Health, LatticeClient } from "./client.ts";
export { LatticeError } from "./error.ts";
export { DEFAULT_RETRY, type RetryPolicy } from "./retry.ts";
export type { DagSubmission, Submission } from "./submission.ts";
export type { AttachOptions, Terminal } from "./terminal.ts";
export type { TokenSource } from "./token.ts";
export { createFetchTransport } from "./transport/fetch.ts";
export { isCursorGone, type WatchOptions } from "./watch.ts";

export const createClient = (options: ClientOptions): LatticeClient =>
  createClientOn({ transport: createFetchTransport(), openWebSocket: openBrowserWebSocket }, options);
