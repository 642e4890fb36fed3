// Written by tools/generate-sdk.mjs from proto/lattice/v1. Do not edit.

import type { Caller, CallOptions, ChangeOptions } from "../src/call.ts";
import { eachItem, type PageOptions } from "../src/pages.ts";
import { fieldsOf, send } from "../src/send.ts";
import type { DagSubmission, Submission, TelemetryForm } from "../src/submission.ts";
import type {
  Accounting,
  AccountingRecord,
  AddGrantRequest,
  AddMemberRequest,
  Allocation,
  Backup,
  CacheResponse,
  CancelDagRequest,
  CancelDagResponse,
  CancelRequest,
  CancelResponse,
  CheckpointStatus,
  ClusterStatus,
  CompareRequest,
  Comparison,
  ConfigResponse,
  CreateEnrolmentRequest,
  CreateEnrolmentResponse,
  CreateSessionResponse,
  CreateTenantRequest,
  CreateVClusterRequest,
  Dag,
  DagGraph,
  DeleteResponse,
  DeleteSessionRequest,
  DeleteSessionResponse,
  Diagnostics,
  DisableNodeRequest,
  DrainNodeRequest,
  EnrolmentResponse,
  EvictImageRequest,
  Explanation,
  GetAccountingRequest,
  GetCacheRequest,
  GetDomainRequest,
  GetNodeConditionRequest,
  GetQueueRequest,
  GetServerMetricsRequest,
  GetTenantUsageRequest,
  GetUserUsageRequest,
  Grant,
  GrantResponse,
  Image,
  InspectImageRequest,
  ListAllocationsRequest,
  ListAllocationsResponse,
  ListBackupsResponse,
  ListDagsRequest,
  ListDagsResponse,
  ListDomainsRequest,
  ListDomainsResponse,
  ListEnrolmentsResponse,
  ListEventsRequest,
  ListEventsResponse,
  ListGrantsRequest,
  ListGrantsResponse,
  ListImagesRequest,
  ListImagesResponse,
  ListNodesRequest,
  ListNodesResponse,
  ListNoticesRequest,
  ListNoticesResponse,
  ListServicesRequest,
  ListServicesResponse,
  ListSessionsRequest,
  ListSessionsResponse,
  ListTenantsRequest,
  ListTenantsResponse,
  ListVClustersRequest,
  ListVClustersResponse,
  LookupServiceRequest,
  LookupServiceResponse,
  MembershipResponse,
  MetricsRequest,
  MetricsResponse,
  NetworkDomain,
  Node,
  NodeCondition,
  NodeResponse,
  PlanResponse,
  QueryAuditRequest,
  QueryAuditResponse,
  Queue,
  Quota,
  RemoveGrantRequest,
  ReportHealthRequest,
  RestoreBackupRequest,
  RestoreBackupResponse,
  ResumeResponse,
  RotateAuditKeyRequest,
  RotateAuditKeyResponse,
  RotateJobKeyRequest,
  RotateJobKeyResponse,
  SchedulerStatus,
  ServerMetrics,
  Session,
  SetConfigRequest,
  SetDomainGraceRequest,
  SetSignalsRequest,
  Signals,
  SubmitDagResponse,
  SubmitResponse,
  Tenant,
  TenantResponse,
  Timeline,
  TransferLeaderResponse,
  UpdateAllocationRequest,
  UpdateAllocationResponse,
  UpdateTenantRequest,
  UpdateVClusterRequest,
  Usage,
  VCluster,
  VClusterResponse,
  VerifyAuditResponse,
  VerifyBackupResponse,
  WarmCacheRequest,
} from "./types.ts";

export interface GrantCalls {
  /** Grants a user a role in a tenant. Idempotent. */
  add(body: Omit<AddGrantRequest, "request_id">, options?: ChangeOptions): Promise<GrantResponse>;
  /** Revokes a grant. Applies to the next call, and to open streams within five minutes. */
  remove(body: Omit<RemoveGrantRequest, "request_id">, options?: ChangeOptions): Promise<GrantResponse>;
  /** Lists grants, one page at a time. */
  list(query?: ListGrantsRequest, options?: CallOptions): Promise<ListGrantsResponse>;
  /** Iterates over all pages. */
  listAll(query?: ListGrantsRequest, options?: CallOptions & PageOptions): AsyncGenerator<Grant>;
}

export function grantCalls(caller: Caller): GrantCalls {
  const calls: GrantCalls = {
    add: (body, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/grants", body: true, requestId: true }, { ...body }, options),
    remove: (body, options = {}) =>
      send(caller, { method: "DELETE", path: "/api/v1/grants/{tenant}/{role}/{user}", body: false, requestId: true }, { ...body }, options),
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/grants", body: false, requestId: false }, { ...query }, options),
    listAll: (query = {}, options = {}) =>
      eachItem((paging) => calls.list({ ...query, ...paging }, options), (page) => page.grants, options),
  };
  return calls;
}

export interface JobKeyCalls {
  /** Creates a new signing key for job tokens. Tokens of the previous key stay valid for the requested time. */
  rotate(options?: ChangeOptions & Omit<RotateJobKeyRequest, "request_id">): Promise<RotateJobKeyResponse>;
}

export function jobKeyCalls(caller: Caller): JobKeyCalls {
  const calls: JobKeyCalls = {
    rotate: (options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/admin/job-key/rotate", body: true, requestId: true }, { ...fieldsOf(options) }, options),
  };
  return calls;
}

export interface AuditKeyCalls {
  /** Creates a new key for the signatures of audit records. The old key endorses it, and its public key is kept. */
  rotate(options?: ChangeOptions & Omit<RotateAuditKeyRequest, "request_id">): Promise<RotateAuditKeyResponse>;
}

export function auditKeyCalls(caller: Caller): AuditKeyCalls {
  const calls: AuditKeyCalls = {
    rotate: (options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/admin/audit-key/rotate", body: true, requestId: true }, { ...fieldsOf(options) }, options),
  };
  return calls;
}

export interface EnrolmentCalls {
  /** Creates a token with which new nodes obtain their first certificates. Shown once. */
  create(maxNodes: number, options?: CallOptions & Omit<CreateEnrolmentRequest, "max_nodes" | "request_id">): Promise<CreateEnrolmentResponse>;
  /** Lists the enrolments and the nodes that used them. */
  list(options?: CallOptions): Promise<ListEnrolmentsResponse>;
  /** Revokes the token of an enrolment. Issued certificates stay valid. */
  remove(enrolmentId: string, options?: ChangeOptions): Promise<EnrolmentResponse>;
}

export function enrolmentCalls(caller: Caller): EnrolmentCalls {
  const calls: EnrolmentCalls = {
    create: (maxNodes, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/admin/enrolments", body: true, requestId: false }, { max_nodes: maxNodes, ...fieldsOf(options) }, options),
    list: (options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/admin/enrolments", body: false, requestId: false }, {  }, options),
    remove: (enrolmentId, options = {}) =>
      send(caller, { method: "DELETE", path: "/api/v1/admin/enrolments/{enrolment_id}", body: false, requestId: true }, { enrolment_id: enrolmentId }, options),
  };
  return calls;
}

export interface AuditCalls {
  /** Searches the audit log. It is append-only, and each record contains the hash of the previous one. */
  query(query?: QueryAuditRequest, options?: CallOptions): Promise<QueryAuditResponse>;
  /** Verifies the hash chain and the signatures of the audit log. */
  verify(options?: CallOptions): Promise<VerifyAuditResponse>;
}

export function auditCalls(caller: Caller): AuditCalls {
  const calls: AuditCalls = {
    query: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/audit", body: false, requestId: false }, { ...query }, options),
    verify: (options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/audit/verify", body: false, requestId: false }, {  }, options),
  };
  return calls;
}

export interface TenantCalls {
  /** Creates a tenant. */
  create(body: Omit<CreateTenantRequest, "request_id"> & Quota, options?: ChangeOptions): Promise<TenantResponse>;
  /** Returns one tenant. */
  get(id: string, options?: CallOptions): Promise<Tenant>;
  /** Lists tenants, one page at a time. */
  list(query?: ListTenantsRequest, options?: CallOptions): Promise<ListTenantsResponse>;
  /** Iterates over all pages. */
  listAll(query?: ListTenantsRequest, options?: CallOptions & PageOptions): AsyncGenerator<Tenant>;
  /** Changes limits or the description of a tenant. */
  update(id: string, body: Omit<UpdateTenantRequest, "id" | "request_id"> & Quota, options?: ChangeOptions): Promise<TenantResponse>;
  /** Deletes a tenant. Rejected while it has work or vClusters. */
  delete(id: string, options?: ChangeOptions): Promise<DeleteResponse>;
}

export function tenantCalls(caller: Caller): TenantCalls {
  const calls: TenantCalls = {
    create: (body, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/tenants", body: true, requestId: true }, { ...body }, options),
    get: (id, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/tenants/{id}", body: false, requestId: false }, { id }, options),
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/tenants", body: false, requestId: false }, { ...query }, options),
    listAll: (query = {}, options = {}) =>
      eachItem((paging) => calls.list({ ...query, ...paging }, options), (page) => page.tenants, options),
    update: (id, body, options = {}) =>
      send(caller, { method: "PATCH", path: "/api/v1/tenants/{id}", body: true, requestId: true }, { id, ...body }, options),
    delete: (id, options = {}) =>
      send(caller, { method: "DELETE", path: "/api/v1/tenants/{id}", body: false, requestId: true }, { id }, options),
  };
  return calls;
}

export interface VClusterCalls {
  /** Creates a vCluster. */
  create(body: Omit<CreateVClusterRequest, "request_id">, options?: ChangeOptions): Promise<VClusterResponse>;
  /** Returns one vCluster. */
  get(id: string, options?: CallOptions): Promise<VCluster>;
  /** Lists vClusters, one page at a time. */
  list(query?: ListVClustersRequest, options?: CallOptions): Promise<ListVClustersResponse>;
  /** Iterates over all pages. */
  listAll(query?: ListVClustersRequest, options?: CallOptions & PageOptions): AsyncGenerator<VCluster>;
  /** Changes the policy of a vCluster. */
  update(id: string, body: Omit<UpdateVClusterRequest, "id" | "request_id">, options?: ChangeOptions): Promise<VClusterResponse>;
  /** Deletes a vCluster. Rejected while it has work or home nodes, and for the default vCluster. */
  delete(id: string, options?: ChangeOptions): Promise<DeleteResponse>;
  /** Returns the queue of a vCluster in scheduling order. */
  queue(id: string, query?: Omit<GetQueueRequest, "id">, options?: CallOptions): Promise<Queue>;
}

export function vclusterCalls(caller: Caller): VClusterCalls {
  const calls: VClusterCalls = {
    create: (body, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/vclusters", body: true, requestId: true }, { ...body }, options),
    get: (id, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/vclusters/{id}", body: false, requestId: false }, { id }, options),
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/vclusters", body: false, requestId: false }, { ...query }, options),
    listAll: (query = {}, options = {}) =>
      eachItem((paging) => calls.list({ ...query, ...paging }, options), (page) => page.vclusters, options),
    update: (id, body, options = {}) =>
      send(caller, { method: "PATCH", path: "/api/v1/vclusters/{id}", body: true, requestId: true }, { id, ...body }, options),
    delete: (id, options = {}) =>
      send(caller, { method: "DELETE", path: "/api/v1/vclusters/{id}", body: false, requestId: true }, { id }, options),
    queue: (id, query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/vclusters/{id}/queue", body: false, requestId: false }, { id, ...query }, options),
  };
  return calls;
}

export interface SchedulerCalls {
  /** Returns when the leader's scheduler last ran for each vCluster, how long it took, and with what result. */
  status(vcluster?: string | undefined, options?: CallOptions): Promise<SchedulerStatus>;
}

export function schedulerCalls(caller: Caller): SchedulerCalls {
  const calls: SchedulerCalls = {
    status: (vcluster, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/admin/scheduler", body: false, requestId: false }, { vcluster }, options),
  };
  return calls;
}

export interface RootCalls {
  /** Returns a server's own metrics, current and over the last hours. */
  serverMetrics(query?: GetServerMetricsRequest, options?: CallOptions): Promise<ServerMetrics>;
  /** Returns the leader, the progress and the size of the log. */
  clusterStatus(options?: CallOptions): Promise<ClusterStatus>;
  /** Submits one allocation. REST also accepts the short (flat) form and YAML. */
  submit(body: Submission, options?: ChangeOptions): Promise<SubmitResponse>;
  /** Returns one allocation, live or finished. */
  get(id: string, options?: CallOptions): Promise<Allocation>;
  /** Lists allocations, newest first, one page at a time. */
  list(query?: ListAllocationsRequest, options?: CallOptions): Promise<ListAllocationsResponse>;
  /** Iterates over all pages. */
  listAll(query?: ListAllocationsRequest, options?: CallOptions & PageOptions): AsyncGenerator<Allocation>;
  /** Cancels an allocation, a task group or some of its elements. Running work receives SIGTERM, then SIGKILL. */
  cancel(id: string, options?: ChangeOptions & Omit<CancelRequest, "id" | "request_id">): Promise<CancelResponse>;
  /** Changes a pending or running allocation: walltime, priority class, tags, hold, telemetry, or the program of a service. */
  update(id: string, body: Omit<UpdateAllocationRequest, "id" | "request_id"> & TelemetryForm, options?: ChangeOptions): Promise<UpdateAllocationResponse>;
  /** Explains why an allocation is pending, with node counts and verified suggestions, or why it started where and when it did. */
  explain(id: string, options?: CallOptions): Promise<Explanation>;
  /** Dry run: returns what submitting this allocation would do now, computed by the real scheduler. Nothing is submitted. */
  plan(body: Submission, options?: CallOptions): Promise<PlanResponse>;
  /** Returns the scheduling decisions made about an allocation so far. */
  timeline(id: string, options?: CallOptions): Promise<Timeline>;
  /** Returns measured values of the last minutes. */
  metrics(id: string, query?: Omit<MetricsRequest, "id">, options?: CallOptions): Promise<MetricsResponse>;
  /** Returns the known state of the network, storage, GPUs and nodes under an allocation. */
  diagnostics(id: string, section?: string | undefined, options?: CallOptions): Promise<Diagnostics>;
  /** Compares the metrics of two to ten allocations. */
  compare(ids: readonly string[], query?: Omit<CompareRequest, "ids">, options?: CallOptions): Promise<Comparison>;
  /** Requests a checkpoint of a running allocation, which continues afterwards. */
  checkpoint(id: string, options?: ChangeOptions): Promise<CheckpointStatus>;
  /** Returns the checkpoints of an allocation and the broker's latest decision. */
  getCheckpoint(id: string, options?: CallOptions): Promise<CheckpointStatus>;
  /** Requeues an allocation that was suspended at the end of its walltime. */
  resume(id: string, options?: ChangeOptions): Promise<ResumeResponse>;
}

export function rootCalls(caller: Caller): RootCalls {
  const calls: RootCalls = {
    serverMetrics: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/admin/metrics", body: false, requestId: false }, { ...query }, options),
    clusterStatus: (options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/raft/status", body: false, requestId: false }, {  }, options),
    submit: (body, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/allocations", body: true, requestId: true }, { ...body }, options),
    get: (id, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/allocations/{id}", body: false, requestId: false }, { id }, options),
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/allocations", body: false, requestId: false }, { ...query }, options),
    listAll: (query = {}, options = {}) =>
      eachItem((paging) => calls.list({ ...query, ...paging }, options), (page) => page.allocations, options),
    cancel: (id, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/allocations/{id}/cancel", body: true, requestId: true }, { id, ...fieldsOf(options) }, options),
    update: (id, body, options = {}) =>
      send(caller, { method: "PATCH", path: "/api/v1/allocations/{id}", body: true, requestId: true }, { id, ...body }, options),
    explain: (id, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/allocations/{id}/explain", body: false, requestId: false }, { id }, options),
    plan: (body, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/allocations:plan", body: true, requestId: false, repeatable: true }, { ...body }, options),
    timeline: (id, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/allocations/{id}/timeline", body: false, requestId: false }, { id }, options),
    metrics: (id, query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/allocations/{id}/metrics", body: false, requestId: false }, { id, ...query }, options),
    diagnostics: (id, section, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/allocations/{id}/diagnostics", body: false, requestId: false }, { id, section }, options),
    compare: (ids, query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/compare", body: false, requestId: false }, { ids, ...query }, options),
    checkpoint: (id, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/allocations/{id}/checkpoint", body: true, requestId: true }, { id }, options),
    getCheckpoint: (id, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/allocations/{id}/checkpoint", body: false, requestId: false }, { id }, options),
    resume: (id, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/allocations/{id}/resume", body: true, requestId: true }, { id }, options),
  };
  return calls;
}

export interface AccountingCalls {
  /** Lists the resource usage of finished allocations. */
  list(query?: GetAccountingRequest, options?: CallOptions): Promise<Accounting>;
  /** Iterates over all pages. */
  listAll(query?: GetAccountingRequest, options?: CallOptions & PageOptions): AsyncGenerator<AccountingRecord>;
}

export function accountingCalls(caller: Caller): AccountingCalls {
  const calls: AccountingCalls = {
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/accounting", body: false, requestId: false }, { ...query }, options),
    listAll: (query = {}, options = {}) =>
      eachItem((paging) => calls.list({ ...query, ...paging }, options), (page) => page.records, { pageSize: 500, ...options }),
  };
  return calls;
}

export interface ConfigCalls {
  /** Returns every configuration key as it is in force on this server. Secret values are masked. */
  get(key?: string | undefined, options?: CallOptions): Promise<ConfigResponse>;
  /** Changes a setting on all servers at once, durably. */
  set(key: string, value?: string | undefined, options?: ChangeOptions & Omit<SetConfigRequest, "key" | "value" | "request_id">): Promise<ConfigResponse>;
}

export function configCalls(caller: Caller): ConfigCalls {
  const calls: ConfigCalls = {
    get: (key, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/admin/config", body: false, requestId: false }, { key }, options),
    set: (key, value, options = {}) =>
      send(caller, { method: "PUT", path: "/api/v1/admin/config/{key}", body: true, requestId: true }, { key, value, ...fieldsOf(options) }, options),
  };
  return calls;
}

export interface UsageCalls {
  /** Returns the usage of a tenant, including running work, and what is left of its budgets. */
  tenant(id: string, query?: Omit<GetTenantUsageRequest, "id">, options?: CallOptions): Promise<Usage>;
  /** Returns the usage of a user. */
  user(query?: GetUserUsageRequest, options?: CallOptions): Promise<Usage>;
}

export function usageCalls(caller: Caller): UsageCalls {
  const calls: UsageCalls = {
    tenant: (id, query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/tenants/{id}/usage", body: false, requestId: false }, { id, ...query }, options),
    user: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/usage", body: false, requestId: false }, { ...query }, options),
  };
  return calls;
}

export interface MemberCalls {
  /** Announces a server that will be started with --join. Idempotent. */
  add(body: Omit<AddMemberRequest, "request_id">, options?: ChangeOptions): Promise<MembershipResponse>;
  /** Removes a server. Rejected if the remaining members would have no majority that responds. */
  remove(id: string, options?: ChangeOptions): Promise<MembershipResponse>;
  /** Transfers leadership. Returns when the other server leads. */
  transferLeader(to?: string | undefined, options?: ChangeOptions): Promise<TransferLeaderResponse>;
}

export function memberCalls(caller: Caller): MemberCalls {
  const calls: MemberCalls = {
    add: (body, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/raft/members", body: true, requestId: true }, { ...body }, options),
    remove: (id, options = {}) =>
      send(caller, { method: "DELETE", path: "/api/v1/raft/members/{id}", body: false, requestId: true }, { id }, options),
    transferLeader: (to, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/raft/transfer-leader", body: true, requestId: true }, { to }, options),
  };
  return calls;
}

export interface BackupCalls {
  /** Writes the whole state and the history to one file, on the server or in the object store. */
  create(destination?: string | undefined, options?: ChangeOptions): Promise<Backup>;
  /** Lists the backups that this server can read, newest first. */
  list(destination?: string | undefined, options?: CallOptions): Promise<ListBackupsResponse>;
  /** Verifies checksums, metadata, every record and the state hash. Default: the newest backup. */
  verify(source?: string | undefined, options?: CallOptions): Promise<VerifyBackupResponse>;
  /** Restores a backup into an empty cluster. */
  restore(source: string, options?: CallOptions & Omit<RestoreBackupRequest, "source" | "request_id">): Promise<RestoreBackupResponse>;
}

export function backupCalls(caller: Caller): BackupCalls {
  const calls: BackupCalls = {
    create: (destination, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/admin/backup", body: true, requestId: true, timeoutMs: 3600000 }, { destination }, options),
    list: (destination, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/admin/backups", body: false, requestId: false, timeoutMs: 3600000 }, { destination }, options),
    verify: (source, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/admin/backup/verify", body: true, requestId: false, repeatable: true, timeoutMs: 3600000 }, { source }, options),
    restore: (source, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/admin/restore", body: true, requestId: false, timeoutMs: 3600000 }, { source, ...fieldsOf(options) }, options),
  };
  return calls;
}

export interface SignalCalls {
  /** Sets external signals for the scheduler: energy price, power, storage, congestion and others. */
  set(signals: Signals, options?: ChangeOptions & Omit<SetSignalsRequest, "signals" | "request_id">): Promise<Signals>;
  /** Returns the external signals in force. */
  get(options?: CallOptions): Promise<Signals>;
}

export function signalCalls(caller: Caller): SignalCalls {
  const calls: SignalCalls = {
    set: (signals, options = {}) =>
      send(caller, { method: "PUT", path: "/api/v1/admin/signals", body: true, requestId: true }, { signals, ...fieldsOf(options) }, options),
    get: (options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/admin/signals", body: false, requestId: false }, {  }, options),
  };
  return calls;
}

export interface ServiceCalls {
  /** Lists the services that running allocations expose. The header x-lattice-tenant restricts the list to one tenant. */
  list(query?: ListServicesRequest, options?: CallOptions): Promise<ListServicesResponse>;
  /** Returns the endpoints of a service. The header x-lattice-tenant restricts the lookup to one tenant. */
  get(name: string, query?: Omit<LookupServiceRequest, "name">, options?: CallOptions): Promise<LookupServiceResponse>;
}

export function serviceCalls(caller: Caller): ServiceCalls {
  const calls: ServiceCalls = {
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/services", body: false, requestId: false }, { ...query }, options),
    get: (name, query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/services/{name}", body: false, requestId: false }, { name, ...query }, options),
  };
  return calls;
}

export interface ImageCalls {
  /** Lists the images of the registry, as a node sees it. */
  list(query?: ListImagesRequest, options?: CallOptions): Promise<ListImagesResponse>;
  /** Returns the metadata of one image. */
  inspect(image: string, query?: Omit<InspectImageRequest, "image">, options?: CallOptions): Promise<Image>;
  /** Loads an image into the caches of nodes. Returns when each node has it or has failed. */
  warm(image: string, options?: ChangeOptions & Omit<WarmCacheRequest, "image" | "request_id">): Promise<CacheResponse>;
  /** Returns the contents of node caches. */
  cache(query?: GetCacheRequest, options?: CallOptions): Promise<CacheResponse>;
  /** Removes an image from the caches of nodes. An image in use stays. */
  evict(image: string, options?: ChangeOptions & Omit<EvictImageRequest, "image" | "request_id">): Promise<CacheResponse>;
}

export function imageCalls(caller: Caller): ImageCalls {
  const calls: ImageCalls = {
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/images", body: false, requestId: false }, { ...query }, options),
    inspect: (image, query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/images/inspect", body: false, requestId: false }, { image, ...query }, options),
    warm: (image, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/cache/warm", body: true, requestId: true, timeoutMs: 310000 }, { image, ...fieldsOf(options) }, options),
    cache: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/cache", body: false, requestId: false }, { ...query }, options),
    evict: (image, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/cache/evict", body: true, requestId: true }, { image, ...fieldsOf(options) }, options),
  };
  return calls;
}

export interface NetworkCalls {
  /** Lists network domains. */
  list(query?: ListDomainsRequest, options?: CallOptions): Promise<ListDomainsResponse>;
  /** Returns one network domain. */
  get(name: string, query?: Omit<GetDomainRequest, "name">, options?: CallOptions): Promise<NetworkDomain>;
  /** Sets how long a domain persists without members. */
  setGrace(name: string, graceSeconds: number, options?: ChangeOptions & Omit<SetDomainGraceRequest, "name" | "grace_seconds" | "request_id">): Promise<NetworkDomain>;
}

export function networkCalls(caller: Caller): NetworkCalls {
  const calls: NetworkCalls = {
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/networks", body: false, requestId: false }, { ...query }, options),
    get: (name, query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/networks/{name}", body: false, requestId: false }, { name, ...query }, options),
    setGrace: (name, graceSeconds, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/networks/{name}/grace", body: true, requestId: true }, { name, grace_seconds: graceSeconds, ...fieldsOf(options) }, options),
  };
  return calls;
}

export interface NodeCalls {
  /** Lists nodes, one page at a time. */
  list(query?: ListNodesRequest, options?: CallOptions): Promise<ListNodesResponse>;
  /** Iterates over all pages. */
  listAll(query?: ListNodesRequest, options?: CallOptions & PageOptions): AsyncGenerator<Node>;
  /** Returns one node. */
  get(id: string, options?: CallOptions): Promise<Node>;
  /** Returns what the node's agent finds on the machine: versions, devices, faults. */
  condition(id: string, query?: Omit<GetNodeConditionRequest, "id">, options?: CallOptions): Promise<NodeCondition>;
  /** Drains a node: running work finishes, nothing new starts. */
  drain(id: string, options?: ChangeOptions & Omit<DrainNodeRequest, "id" | "request_id">): Promise<NodeResponse>;
  /** Returns a draining or drained node to service. */
  undrain(id: string, options?: ChangeOptions): Promise<NodeResponse>;
  /** Takes a node out of service immediately. Its work is requeued or fails. */
  disable(id: string, options?: ChangeOptions & Omit<DisableNodeRequest, "id" | "request_id">): Promise<NodeResponse>;
  /** Returns a disabled or quarantined node to service. */
  enable(id: string, options?: ChangeOptions): Promise<NodeResponse>;
  /** Sets the home vCluster of a node, overriding the agent's configuration. */
  assign(id: string, vcluster?: string | undefined, options?: ChangeOptions): Promise<NodeResponse>;
  /** Reports the hardware health of a node, for external monitors such as a BMC poller. */
  reportHealth(id: string, body: Omit<ReportHealthRequest, "id" | "request_id">, options?: ChangeOptions): Promise<NodeResponse>;
}

export function nodeCalls(caller: Caller): NodeCalls {
  const calls: NodeCalls = {
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/nodes", body: false, requestId: false }, { ...query }, options),
    listAll: (query = {}, options = {}) =>
      eachItem((paging) => calls.list({ ...query, ...paging }, options), (page) => page.nodes, { pageSize: 500, ...options }),
    get: (id, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/nodes/{id}", body: false, requestId: false }, { id }, options),
    condition: (id, query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/nodes/{id}/condition", body: false, requestId: false }, { id, ...query }, options),
    drain: (id, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/nodes/{id}/drain", body: true, requestId: true }, { id, ...fieldsOf(options) }, options),
    undrain: (id, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/nodes/{id}/undrain", body: true, requestId: true }, { id }, options),
    disable: (id, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/nodes/{id}/disable", body: true, requestId: true }, { id, ...fieldsOf(options) }, options),
    enable: (id, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/nodes/{id}/enable", body: true, requestId: true }, { id }, options),
    assign: (id, vcluster, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/nodes/{id}/assign", body: true, requestId: true }, { id, vcluster }, options),
    reportHealth: (id, body, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/nodes/{id}/health", body: true, requestId: true }, { id, ...body }, options),
  };
  return calls;
}

export interface SessionCalls {
  /** Submits an interactive allocation, or opens a session on a running one. */
  create(body: Submission | { readonly allocation_id: string }, options?: ChangeOptions): Promise<CreateSessionResponse>;
  /** Returns one session. */
  get(id: string, options?: CallOptions): Promise<Session>;
  /** Lists sessions, one page at a time. */
  list(query?: ListSessionsRequest, options?: CallOptions): Promise<ListSessionsResponse>;
  /** Iterates over all pages. */
  listAll(query?: ListSessionsRequest, options?: CallOptions & PageOptions): AsyncGenerator<Session>;
  /** Ends a session, and the allocation created for it. */
  end(id: string, options?: ChangeOptions & Omit<DeleteSessionRequest, "id" | "request_id">): Promise<DeleteSessionResponse>;
}

export function sessionCalls(caller: Caller): SessionCalls {
  const calls: SessionCalls = {
    create: (body, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/sessions", body: true, requestId: true }, { ...body }, options),
    get: (id, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/sessions/{id}", body: false, requestId: false }, { id }, options),
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/sessions", body: false, requestId: false }, { ...query }, options),
    listAll: (query = {}, options = {}) =>
      eachItem((paging) => calls.list({ ...query, ...paging }, options), (page) => page.sessions, options),
    end: (id, options = {}) =>
      send(caller, { method: "DELETE", path: "/api/v1/sessions/{id}", body: false, requestId: true }, { id, ...fieldsOf(options) }, options),
  };
  return calls;
}

export interface DagCalls {
  /** Submits all allocations of a workflow atomically. REST also accepts the short form and YAML. */
  submit(body: DagSubmission, options?: ChangeOptions): Promise<SubmitDagResponse>;
  /** Returns a DAG with its members. */
  get(id: string, options?: CallOptions): Promise<Dag>;
  /** Returns the members and edges of a DAG. */
  graph(id: string, options?: CallOptions): Promise<DagGraph>;
  /** Lists DAGs, one page at a time. */
  list(query?: ListDagsRequest, options?: CallOptions): Promise<ListDagsResponse>;
  /** Iterates over all pages. */
  listAll(query?: ListDagsRequest, options?: CallOptions & PageOptions): AsyncGenerator<Dag>;
  /** Cancels every member that has not finished. */
  cancel(id: string, options?: ChangeOptions & Omit<CancelDagRequest, "id" | "request_id">): Promise<CancelDagResponse>;
}

export function dagCalls(caller: Caller): DagCalls {
  const calls: DagCalls = {
    submit: (body, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/dags", body: true, requestId: true }, { ...body }, options),
    get: (id, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/dags/{id}", body: false, requestId: false }, { id }, options),
    graph: (id, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/dags/{id}/graph", body: false, requestId: false }, { id }, options),
    list: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/dags", body: false, requestId: false }, { ...query }, options),
    listAll: (query = {}, options = {}) =>
      eachItem((paging) => calls.list({ ...query, ...paging }, options), (page) => page.dags, options),
    cancel: (id, options = {}) =>
      send(caller, { method: "POST", path: "/api/v1/dags/{id}/cancel", body: true, requestId: true }, { id, ...fieldsOf(options) }, options),
  };
  return calls;
}

export interface EventCalls {
  /** Lists all events of one allocation, oldest first. */
  list(id: string, query?: Omit<ListEventsRequest, "id">, options?: CallOptions): Promise<ListEventsResponse>;
  /** Lists notices for the caller: about its own work, the tenants it administers, and the cluster. */
  notices(query?: ListNoticesRequest, options?: CallOptions): Promise<ListNoticesResponse>;
}

export function eventCalls(caller: Caller): EventCalls {
  const calls: EventCalls = {
    list: (id, query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/allocations/{id}/events", body: false, requestId: false }, { id, ...query }, options),
    notices: (query = {}, options = {}) =>
      send(caller, { method: "GET", path: "/api/v1/notices", body: false, requestId: false }, { ...query }, options),
  };
  return calls;
}

/** Every unary call of the API. */
export interface GeneratedClient extends RootCalls {
  readonly grants: GrantCalls;
  readonly jobKey: JobKeyCalls;
  readonly auditKey: AuditKeyCalls;
  readonly enrolments: EnrolmentCalls;
  readonly audit: AuditCalls;
  readonly tenants: TenantCalls;
  readonly vclusters: VClusterCalls;
  readonly scheduler: SchedulerCalls;
  readonly accounting: AccountingCalls;
  readonly config: ConfigCalls;
  readonly usage: UsageCalls;
  readonly members: MemberCalls;
  readonly backups: BackupCalls;
  readonly signals: SignalCalls;
  readonly services: ServiceCalls;
  readonly images: ImageCalls;
  readonly networks: NetworkCalls;
  readonly nodes: NodeCalls;
  readonly sessions: SessionCalls;
  readonly dags: DagCalls;
  readonly events: EventCalls;
}

export const generatedClient = (caller: Caller): GeneratedClient => ({
  ...rootCalls(caller),
  grants: grantCalls(caller),
  jobKey: jobKeyCalls(caller),
  auditKey: auditKeyCalls(caller),
  enrolments: enrolmentCalls(caller),
  audit: auditCalls(caller),
  tenants: tenantCalls(caller),
  vclusters: vclusterCalls(caller),
  scheduler: schedulerCalls(caller),
  accounting: accountingCalls(caller),
  config: configCalls(caller),
  usage: usageCalls(caller),
  members: memberCalls(caller),
  backups: backupCalls(caller),
  signals: signalCalls(caller),
  services: serviceCalls(caller),
  images: imageCalls(caller),
  networks: networkCalls(caller),
  nodes: nodeCalls(caller),
  sessions: sessionCalls(caller),
  dags: dagCalls(caller),
  events: eventCalls(caller),
});
