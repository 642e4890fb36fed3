// The client: every call of the services over REST, and terminals over WebSocket. It holds no state besides open
// connections and the log index of its last change, and may be shared by many callers.

import { type CallOptions, createCaller } from "./call.ts";
import {
  type AuditCalls,
  auditCalls,
  type GrantCalls,
  grantCalls,
  type JobKeyCalls,
  jobKeyCalls,
} from "./calls/access.ts";
import {
  clusterStatus,
  metricsText,
  type ServerMetricsQuery,
  type SignalCalls,
  serverMetrics,
  signalCalls,
  type TenantCalls,
  tenantCalls,
  type VClusterCalls,
  vclusterCalls,
} from "./calls/admin.ts";
import { type AllocationCalls, allocationCalls } from "./calls/allocations.ts";
import { type BackupCalls, backupCalls } from "./calls/backups.ts";
import { type DagCalls, dagCalls } from "./calls/dags.ts";
import { type EventCalls, eventCalls } from "./calls/events.ts";
import { type ImageCalls, imageCalls } from "./calls/images.ts";
import { type MemberCalls, memberCalls } from "./calls/members.ts";
import { type NetworkCalls, networkCalls } from "./calls/networks.ts";
import { type NodeCalls, nodeCalls } from "./calls/nodes.ts";
import { type ObserveCalls, observeCalls } from "./calls/observe.ts";
import {
  type AccountingCalls,
  accountingCalls,
  type ConfigCalls,
  configCalls,
  type SchedulerCalls,
  type ServiceCalls,
  schedulerCalls,
  serviceCalls,
} from "./calls/operate.ts";
import { attachTo, type SessionCalls, sessionCalls } from "./calls/sessions.ts";
import { type TaskCalls, taskCalls } from "./calls/tasks.ts";
import { type UsageCalls, usageCalls } from "./calls/usage.ts";
import type { ClusterStatus } from "./cluster-types.ts";
import type { ServerMetrics } from "./operate-types.ts";
import { DEFAULT_RETRY, type RetryPolicy } from "./retry.ts";
import type { AttachOptions, Terminal } from "./terminal.ts";
import { sourceOf, type TokenSource } from "./token.ts";
import type { Transport } from "./transport/transport.ts";
import type { OpenWebSocket } from "./transport/web-socket.ts";

export interface ClientOptions {
  /** For example "http://127.0.0.1:8080"; of several servers, separated by commas, another is asked when one is away. */
  readonly url: string;
  /** Who is asking, on a cluster without authentication. */
  readonly user?: string | undefined;
  readonly tenant?: string | undefined;
  /** Bearer token, on a cluster with authentication; a function is asked for one before every request. */
  readonly token?: string | TokenSource | undefined;
  /** Longest wait for an answer. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
  readonly transport?: Transport | undefined;
}

export interface Health {
  readonly status: string;
  readonly [detail: string]: unknown;
}

export interface LatticeClient extends AllocationCalls, ObserveCalls {
  readonly url: string;
  readonly dags: DagCalls;
  readonly nodes: NodeCalls;
  readonly tenants: TenantCalls;
  readonly vclusters: VClusterCalls;
  readonly members: MemberCalls;
  readonly backups: BackupCalls;
  readonly usage: UsageCalls;
  /** What each finished allocation has used. */
  readonly accounting: AccountingCalls;
  readonly config: ConfigCalls;
  readonly services: ServiceCalls;
  readonly scheduler: SchedulerCalls;
  readonly signals: SignalCalls;
  readonly sessions: SessionCalls;
  readonly grants: GrantCalls;
  readonly jobKey: JobKeyCalls;
  readonly audit: AuditCalls;
  /** Opens a terminal in a running allocation. */
  attach(id: string, options?: AttachOptions): Promise<Terminal>;
  readonly images: ImageCalls;
  readonly events: EventCalls;
  readonly networks: NetworkCalls;
  readonly tasks: TaskCalls;
  clusterStatus(options?: CallOptions): Promise<ClusterStatus>;
  health(options?: CallOptions): Promise<Health>;
  /** What the server counts, in the text format of Prometheus. */
  metricsText(options?: CallOptions): Promise<string>;
  /** What a server counts about itself, now and as it remembers it. */
  serverMetrics(query?: ServerMetricsQuery, options?: CallOptions): Promise<ServerMetrics>;
  /** Whether and how to log in; needs no token. */
  discovery(options?: CallOptions): Promise<object>;
  /** Serving and caught up; throws the server's problem when it is not. */
  ready(options?: CallOptions): Promise<Health>;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** What differs between Node and browsers. */
export interface Platform {
  readonly transport: Transport;
  readonly openWebSocket: OpenWebSocket;
}

export function createClientOn(platform: Platform, options: ClientOptions): LatticeClient {
  const urls = options.url.split(",").map((one) => normaliseUrl(one.trim()));
  const [url = ""] = urls;
  const caller = createCaller({
    baseUrls: urls,
    headers: identityHeaders(options),
    token: sourceOf(options.token),
    tokenIsFixed: typeof options.token !== "function",
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    retry: { ...DEFAULT_RETRY, ...options.retry },
    transport: options.transport ?? platform.transport,
    openWebSocket: platform.openWebSocket,
  });
  return {
    url,
    ...allocationCalls(caller),
    ...observeCalls(caller),
    dags: dagCalls(caller),
    nodes: nodeCalls(caller),
    tenants: tenantCalls(caller),
    vclusters: vclusterCalls(caller),
    members: memberCalls(caller),
    backups: backupCalls(caller),
    usage: usageCalls(caller),
    accounting: accountingCalls(caller),
    config: configCalls(caller),
    services: serviceCalls(caller),
    scheduler: schedulerCalls(caller),
    signals: signalCalls(caller),
    sessions: sessionCalls(caller),
    grants: grantCalls(caller),
    jobKey: jobKeyCalls(caller),
    audit: auditCalls(caller),
    attach: (id, attachOptions) => attachTo(caller, id, attachOptions),
    images: imageCalls(caller),
    events: eventCalls(caller),
    networks: networkCalls(caller),
    tasks: taskCalls(caller),
    clusterStatus: (callOptions) => clusterStatus(caller, callOptions),
    discovery: (callOptions) => caller.json({ method: "GET", path: "/api/v1/auth/discovery" }, callOptions),
    health: (callOptions) => caller.json({ method: "GET", path: "/healthz" }, callOptions),
    serverMetrics: (query, callOptions) => serverMetrics(caller, query, callOptions),
    metricsText: (callOptions) => metricsText(caller, callOptions),
    ready: (callOptions) => caller.json({ method: "GET", path: "/readyz" }, callOptions),
  };
}

/** `host:port` means http; a trailing slash is dropped. */
export function normaliseUrl(text: string): string {
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
  return withScheme.replace(/\/+$/, "");
}

function identityHeaders(options: ClientOptions): Record<string, string> {
  return {
    ...(options.user === undefined ? {} : { "x-lattice-user": headerText(options.user) }),
    ...(options.tenant === undefined ? {} : { "x-lattice-tenant": headerText(options.tenant) }),
  };
}

/** A header carries ASCII only; other names travel percent-encoded, and the server decodes them. */
const headerText = (text: string): string => (/^[!-$&-~]*$/.test(text) ? text : encodeURIComponent(text));
