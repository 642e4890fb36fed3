// The public surface of the client library.

export type * from "./access-types.ts";
export type * from "./backup-types.ts";
export type { CallOptions } from "./call.ts";
export type { AuditCalls, GrantCalls, JobKeyCalls } from "./calls/access.ts";
export type { ServerMetricsQuery, SignalCalls, TenantCalls, VClusterCalls } from "./calls/admin.ts";
export type { AllocationCalls, ChangeOptions } from "./calls/allocations.ts";
export type { BackupCalls } from "./calls/backups.ts";
export type { DagCalls } from "./calls/dags.ts";
export type { EventCalls } from "./calls/events.ts";
export type { ImageCalls } from "./calls/images.ts";
export type { MemberCalls } from "./calls/members.ts";
export type { DomainList, NetworkCalls, NetworkDomain } from "./calls/networks.ts";
export type { NodeCalls, NodeChangeOptions } from "./calls/nodes.ts";
export type { ObserveCalls } from "./calls/observe.ts";
export type { AccountingCalls, ConfigCalls, SchedulerCalls, ServiceCalls } from "./calls/operate.ts";
export type { CreatedSession, Session, SessionCalls, SessionPage } from "./calls/sessions.ts";
export type { TaskCalls, TaskInput } from "./calls/tasks.ts";
export type { UsageCalls } from "./calls/usage.ts";
export type * from "./checkpoint-types.ts";
export { type ClientOptions, type Health, type LatticeClient, normaliseUrl } from "./client.ts";
export type * from "./cluster-types.ts";
export type * from "./condition-types.ts";
export type * from "./dag-types.ts";
export { LatticeError } from "./error.ts";
export type * from "./event-types.ts";
export type * from "./explain-types.ts";
export type * from "./group-types.ts";
export type * from "./image-types.ts";
export type { LaunchOptions, LaunchPosition } from "./launch.ts";
export { createClient, type NodeClientOptions } from "./node-client.ts";
export type * from "./observe-types.ts";
export type * from "./operate-types.ts";
export { backoffMs, DEFAULT_RETRY, type RetryPolicy, sleep } from "./retry.ts";
export { parseEvents, type ServerSentEvent } from "./sse.ts";
export type * from "./task-types.ts";
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
export type * from "./types.ts";
export type * from "./usage-types.ts";
export { isCursorGone, type WatchOptions } from "./watch.ts";
