// The public surface of the client library.

export type * from "../gen/calls.ts";
export type * from "../gen/types.ts";
export type { AllocationStreams } from "./allocation-streams.ts";
export type { CallOptions, ChangeOptions } from "./call.ts";
export { type ClientOptions, type Health, type LatticeClient, normaliseUrl } from "./client.ts";
export { LatticeError } from "./error.ts";
export type { EventStream } from "./event-stream.ts";
export type { LogsFilter } from "./follow-logs.ts";
export type { LaunchOptions, LaunchPosition } from "./launch.ts";
export type { LaunchEvent, LaunchRequest } from "./launch-events.ts";
export { createClient, type NodeClientOptions } from "./node-client.ts";
export type { PageOptions } from "./pages.ts";
export { backoffMs, DEFAULT_RETRY, type RetryPolicy, sleep } from "./retry.ts";
export { parseEvents, type ServerSentEvent } from "./sse.ts";
export type { DagSubmission, Submission, TelemetryForm } from "./submission.ts";
export type { TaskCalls, TaskInput } from "./tasks.ts";
export {
  type AttachOptions,
  MAX_TERMINAL_SIDE,
  type Terminal,
  type TerminalEnd,
  type TerminalSignalName,
  type TerminalSize,
} from "./terminal.ts";
export type { TokenSource } from "./token.ts";
export { createFetchTransport } from "./transport/fetch.ts";
export { createNodeTransport } from "./transport/node.ts";
export {
  type HttpRequest,
  type HttpResponse,
  type Transport,
  TransportError,
  type TransportFailure,
} from "./transport/transport.ts";
export { isCursorGone, type WatchFilter, type WatchOptions } from "./watch.ts";
