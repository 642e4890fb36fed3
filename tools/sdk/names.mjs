// The names of calls in the two SDKs, and their positional arguments: what cannot be derived from the proto files. An RPC
// that is missing here fails tests/tidy/sdk.test.ts; every other property of a call comes from its messages and route.
//
//   ts        group and method of the TypeScript client; without a dot: a method of the client itself
//   py        method of the Python client
//   args      fields that are positional after those of the path; "?" marks an optional one
//   pyArgs    the same for Python, where it differs
//   pyFields  Python names of fields, where they differ
//   body      the remaining fields are one argument of this TypeScript type (default: the request type)
//   result    the field that the Python method returns instead of the whole response; null: nothing
//   timeoutMs how long to wait for the answer (default: as the client is set)
//   pageSize  items per request of the iterating form (default: 200)
//   pure      a POST that changes nothing: no request id, safe to repeat
//   once      never repeated after it may have reached the server
//   hand      "ts", "py" or "both": written by hand

/** Messages whose SDK name differs from the contract's. */
export const TYPE_NAMES = { Event: "WatchEvent" };

/** Messages whose Python name differs from the TypeScript one. */
export const PY_NAMES = {
  CancelDagResponse: "CancelledDag",
  CancelResponse: "Cancelled",
  CreateSessionResponse: "CreatedSession",
  HoldStatus: "Hold",
  LookupServiceResponse: "Service",
  PlanResponse: "Plan",
  SubmitDagResponse: "SubmittedDag",
  SubmitResponse: "Submitted",
  TransferLeaderResponse: "LeaderTransfer",
  VerifyBackupResponse: "BackupVerification",
};

/** Base classes with convenience members; see sdks/python/lattice_sdk/models/extras.py. */
export const PY_BASES = { Allocation: "SpecNames", CreateSessionResponse: "SessionId", SubmitDagResponse: "MemberIds" };

/** Documents that callers wrote stay dictionaries. */
export const PY_DICTS = new Set(["AllocationSpec"]);

/** Message fields that the server always sets. */
export const PY_DEFAULTED = new Set([
  "Node.capabilities",
  "Tenant.quota",
  "TenantUsage.running",
  "Usage.running",
  "UserUsage.running",
]);

/** Short forms that REST accepts in addition to the fields of a request; see packages/wire/src/normalise. */
export const SHORT_FORMS = {
  CreateTenantRequest: "Quota",
  UpdateTenantRequest: "Quota",
  UpdateAllocationRequest: "TelemetryForm",
};

/** Fields whose name without the unit means something else: `telemetry` is the mode. */
export const NOT_DURATIONS = new Set(["UpdateAllocationRequest.telemetry_seconds"]);

const HOUR_MS = 3_600_000;

export const CALLS = {
  "AllocationService.Submit": { ts: "submit", py: "submit", body: "Submission", hand: "py" },
  "AllocationService.Get": { ts: "get", py: "status" },
  "AllocationService.List": { ts: "list", py: "list_allocations" },
  "AllocationService.Cancel": { ts: "cancel", py: "cancel" },
  "AllocationService.Update": { ts: "update", py: "update", body: "", result: "allocation" },
  "AllocationService.Explain": { ts: "explain", py: "explain" },
  "AllocationService.Plan": { ts: "plan", py: "plan", body: "Submission", pure: true, hand: "py" },
  "AllocationService.GetTimeline": { ts: "timeline", py: "timeline" },
  "AllocationService.QueryMetrics": { ts: "metrics", py: "query_metrics", hand: "py" },
  "AllocationService.GetDiagnostics": { ts: "diagnostics", py: "diagnostics", args: ["section?"] },
  "AllocationService.CompareMetrics": { ts: "compare", py: "compare_metrics", args: ["ids"] },
  "AllocationService.RequestCheckpoint": { ts: "checkpoint", py: "checkpoint" },
  "AllocationService.GetCheckpoint": { ts: "getCheckpoint", py: "checkpoint_status" },
  "AllocationService.Resume": { ts: "resume", py: "resume" },

  "DagService.SubmitDag": { ts: "dags.submit", py: "submit_dag", body: "DagSubmission", hand: "py" },
  "DagService.GetDag": { ts: "dags.get", py: "get_dag" },
  "DagService.GetDagGraph": { ts: "dags.graph", py: "dag_graph" },
  "DagService.ListDags": { ts: "dags.list", py: "list_dags" },
  "DagService.CancelDag": { ts: "dags.cancel", py: "cancel_dag" },

  "SessionService.CreateSession": {
    ts: "sessions.create",
    py: "create_session",
    body: "Submission | { readonly allocation_id: string }",
    hand: "py",
  },
  "SessionService.GetSession": { ts: "sessions.get", py: "get_session" },
  "SessionService.ListSessions": { ts: "sessions.list", py: "list_sessions" },
  "SessionService.DeleteSession": { ts: "sessions.end", py: "end_session", result: "state" },

  "NodeService.ListNodes": { ts: "nodes.list", py: "list_nodes", pageSize: 500 },
  "NodeService.GetNode": { ts: "nodes.get", py: "get_node" },
  "NodeService.GetNodeCondition": { ts: "nodes.condition", py: "node_condition" },
  "NodeService.DrainNode": { ts: "nodes.drain", py: "drain_node", result: "node" },
  "NodeService.UndrainNode": { ts: "nodes.undrain", py: "undrain_node", result: "node" },
  "NodeService.DisableNode": { ts: "nodes.disable", py: "disable_node", result: "node" },
  "NodeService.EnableNode": { ts: "nodes.enable", py: "enable_node", result: "node" },
  "NodeService.AssignNode": { ts: "nodes.assign", py: "assign_node", args: ["vcluster?"], result: "node" },
  "NodeService.ReportHealth": {
    ts: "nodes.reportHealth",
    py: "report_health",
    args: ["status"],
    body: "",
    result: "node",
  },

  "TaskService.SendTaskInput": { ts: "tasks.sendInput", py: "send_input", hand: "both" },
  "TaskService.ControlLaunch": { ts: "tasks.end", py: "end_launch", hand: "both" },

  "AdminService.CreateTenant": { ts: "tenants.create", py: "create_tenant", args: ["id"], body: "", result: "tenant" },
  "AdminService.GetTenant": { ts: "tenants.get", py: "get_tenant" },
  "AdminService.ListTenants": { ts: "tenants.list", py: "list_tenants" },
  "AdminService.UpdateTenant": { ts: "tenants.update", py: "update_tenant", body: "", result: "tenant", hand: "py" },
  "AdminService.DeleteTenant": { ts: "tenants.delete", py: "delete_tenant", result: null },
  "AdminService.CreateVCluster": {
    ts: "vclusters.create",
    py: "create_vcluster",
    args: ["id"],
    body: "",
    result: "vcluster",
  },
  "AdminService.GetVCluster": { ts: "vclusters.get", py: "get_vcluster" },
  "AdminService.ListVClusters": { ts: "vclusters.list", py: "list_vclusters" },
  "AdminService.UpdateVCluster": { ts: "vclusters.update", py: "update_vcluster", body: "", result: "vcluster" },
  "AdminService.DeleteVCluster": { ts: "vclusters.delete", py: "delete_vcluster", result: null },
  "AdminService.GetQueue": { ts: "vclusters.queue", py: "vcluster_queue" },
  "AdminService.GetSchedulerStatus": { ts: "scheduler.status", py: "scheduler_status", args: ["vcluster?"] },
  "AdminService.GetServerMetrics": { ts: "serverMetrics", py: "server_metrics", pyArgs: ["component?"] },
  "AdminService.GetAccounting": { ts: "accounting.list", py: "accounting", pageSize: 500 },
  "AdminService.GetConfig": { ts: "config.get", py: "get_config", args: ["key?"], hand: "py" },
  "AdminService.SetConfig": { ts: "config.set", py: "set_config", args: ["value?"], hand: "py" },
  "AdminService.GetTenantUsage": { ts: "usage.tenant", py: "tenant_usage" },
  "AdminService.GetUserUsage": { ts: "usage.user", py: "usage" },
  "AdminService.GetClusterStatus": { ts: "clusterStatus", py: "cluster_status" },
  "AdminService.AddMember": {
    ts: "members.add",
    py: "add_member",
    args: ["id", "peer_address"],
    body: "",
    result: "members",
  },
  "AdminService.RemoveMember": { ts: "members.remove", py: "remove_member", result: "members" },
  "AdminService.TransferLeader": { ts: "members.transferLeader", py: "transfer_leader", args: ["to?"] },
  "AdminService.CreateBackup": {
    ts: "backups.create",
    py: "create_backup",
    args: ["destination?"],
    timeoutMs: HOUR_MS,
  },
  "AdminService.ListBackups": {
    ts: "backups.list",
    py: "list_backups",
    args: ["destination?"],
    result: "backups",
    timeoutMs: HOUR_MS,
  },
  "AdminService.VerifyBackup": {
    ts: "backups.verify",
    py: "verify_backup",
    args: ["source?"],
    timeoutMs: HOUR_MS,
    pure: true,
  },
  "AdminService.RestoreBackup": {
    ts: "backups.restore",
    py: "restore_backup",
    args: ["source"],
    timeoutMs: HOUR_MS,
    once: true,
  },
  "AdminService.SetSignals": { ts: "signals.set", py: "set_signals", args: ["signals"] },
  "AdminService.GetSignals": { ts: "signals.get", py: "get_signals" },
  "AdminService.ListServices": { ts: "services.list", py: "list_services", result: "services" },
  "AdminService.LookupService": { ts: "services.get", py: "get_service" },

  "ImageService.ListImages": { ts: "images.list", py: "list_images", result: "images" },
  "ImageService.InspectImage": { ts: "images.inspect", py: "inspect_image", args: ["image"] },
  "ImageService.WarmCache": {
    ts: "images.warm",
    py: "warm_cache",
    args: ["image"],
    result: "nodes",
    timeoutMs: 310_000,
  },
  "ImageService.GetCache": { ts: "images.cache", py: "cache", result: "nodes" },
  "ImageService.EvictImage": { ts: "images.evict", py: "evict_image", args: ["image"], result: "nodes" },

  "EventService.ListEvents": {
    ts: "events.list",
    py: "allocation_events",
    pyFields: { cursor: "after" },
    result: "events",
  },
  "EventService.ListNotices": { ts: "events.notices", py: "list_notices", result: "notices" },

  "NetworkService.ListDomains": { ts: "networks.list", py: "list_networks", pyArgs: ["tenant?"] },
  "NetworkService.GetDomain": { ts: "networks.get", py: "get_domain", pyArgs: ["tenant?"] },
  "NetworkService.SetDomainGrace": { ts: "networks.setGrace", py: "set_domain_grace", args: ["grace_seconds"] },

  "AccessService.AddGrant": {
    ts: "grants.add",
    py: "add_grant",
    args: ["tenant", "user", "role"],
    body: "",
    result: null,
  },
  "AccessService.RemoveGrant": {
    ts: "grants.remove",
    py: "remove_grant",
    args: ["tenant", "user", "role"],
    body: "",
    result: null,
  },
  "AccessService.ListGrants": { ts: "grants.list", py: "list_grants", pyArgs: ["tenant?", "user?"] },
  "AccessService.RotateJobKey": { ts: "jobKey.rotate", py: "rotate_job_key" },
  "AccessService.RotateAuditKey": { ts: "auditKey.rotate", py: "rotate_audit_key" },
  "AccessService.CreateEnrolment": { ts: "enrolments.create", py: "create_enrolment", args: ["max_nodes"], once: true },
  "AccessService.ListEnrolments": { ts: "enrolments.list", py: "list_enrolments", result: "enrolments" },
  "AccessService.RemoveEnrolment": { ts: "enrolments.remove", py: "remove_enrolment", result: null },
  "AccessService.QueryAudit": { ts: "audit.query", py: "query_audit" },
  "AccessService.VerifyAudit": { ts: "audit.verify", py: "verify_audit" },
};
