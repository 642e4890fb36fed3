// The access rules as data: for each RPC and for the service proxy, a verb, a resource, and the reach of each role. A
// principal with several roles has the widest of their reaches. A test checks every RPC with every role.
//
//   all     everything
//   tenant  what belongs to the principal's tenant
//   mine    what the principal submitted itself, in any tenant
//   own     what the principal submitted itself in its tenant
//   none    nothing
//
// Output is the content of a user's work, so fewer roles reach it than the state. Only the owner reaches the content of
// sensitive work, not the administrators of the cluster: calls that show it or run something in it have a second row.

import type { Role } from "../../base/auth/principal.ts";
import type { RpcName } from "../call/rpc.ts";

export type Verb = "read" | "change" | "attach" | "use";
export type Resource =
  | "work"
  | "output"
  | "terminal"
  | "services"
  | "cluster"
  | "nodes"
  | "images"
  | "tenants"
  | "grants"
  | "audit";
export type Reach = "all" | "tenant" | "mine" | "own" | "none";
export type Row = Readonly<Record<Role, Reach>>;

export interface Rule {
  readonly verb: Verb;
  readonly resource: Resource;
  readonly reach: Row;
  /** The reach for sensitive work. Default: `reach`. */
  readonly sensitive?: Row;
  /** A server may call it for itself, with its certificate or with a token that has the scope `member`. */
  readonly servers?: true;
}

/** The proxy to services. It is not an RPC, but is authorized and counted like one. */
export const PROXY_NAME = "Services.Proxy";
export type RuleName = RpcName | typeof PROXY_NAME;

type RoleReaches = readonly [Reach, Reach, Reach, Reach, Reach, Reach];

/** In the order SystemAdmin, TenantAdmin, Operator, ClaimingUser, ReadOnly, User. */
const row = (...reach: RoleReaches): Row => ({
  SystemAdmin: reach[0],
  TenantAdmin: reach[1],
  Operator: reach[2],
  ClaimingUser: reach[3],
  ReadOnly: reach[4],
  User: reach[5],
});

const rule = (verb: Verb, resource: Resource, ...reach: RoleReaches): Rule => ({
  verb,
  resource,
  reach: row(...reach),
});

/** Sensitive work belongs to the user who claimed its nodes. */
const CLAIMANTS = row("mine", "own", "own", "own", "none", "own");
/** The administrators of a tenant may review output. */
const REVIEWED = row("mine", "tenant", "own", "own", "none", "own");

/** Measurements rather than content: operators need them. */
const seeMetrics = { ...rule("read", "output", "all", "tenant", "all", "own", "all", "own"), sensitive: CLAIMANTS };
/** A role without oversight sees its own work. */
const seeWork = rule("read", "work", "all", "tenant", "all", "own", "all", "own");
const changeWork = rule("change", "work", "all", "tenant", "own", "own", "none", "own");
const readOutput = { ...rule("read", "output", "all", "tenant", "own", "own", "none", "own"), sensitive: REVIEWED };
/** A task runs as the owner of the work, with the owner's files: administrators may not start one, as with terminals. */
const runInside = { ...rule("change", "work", "mine", "own", "own", "own", "none", "own"), sensitive: CLAIMANTS };
/** Only the owner may open a terminal; administrators may not. */
const openTerminal = rule("attach", "terminal", "mine", "own", "own", "own", "none", "own");
const openSession = rule("change", "work", "mine", "own", "own", "own", "none", "own");
/** Only the service knows what a request changes, so read-only roles may not send any. */
const useServices = {
  ...rule("use", "services", "all", "tenant", "tenant", "tenant", "none", "tenant"),
  sensitive: CLAIMANTS,
};
const seeCluster = rule("read", "cluster", "all", "all", "all", "all", "all", "all");
const changeNodes = rule("change", "nodes", "all", "tenant", "all", "none", "none", "none");
const disableNodes = rule("change", "nodes", "all", "none", "all", "none", "none", "none");
const bringImages = rule("change", "images", "all", "all", "all", "all", "none", "all");
const administer = rule("change", "cluster", "all", "none", "none", "none", "none", "none");
/** A new server adds itself. */
const addMember = { ...administer, servers: true } as const;
const changeTenant = rule("change", "tenants", "all", "tenant", "none", "none", "none", "none");
const seeTenant = rule("read", "tenants", "all", "tenant", "all", "tenant", "all", "tenant");
/** The usage of one user of a tenant. */
const seeUsage = rule("read", "tenants", "all", "tenant", "all", "own", "all", "own");
/** Only administrators of the cluster may grant `tenant_admin`; the handler checks that as well. */
const changeGrants = rule("change", "grants", "all", "tenant", "none", "none", "none", "none");
const seeGrants = rule("read", "grants", "all", "tenant", "all", "own", "all", "own");
/** A user who claims sensitive nodes is accountable for them, and reads their audit records. */
const readAudit = rule("read", "audit", "all", "tenant", "none", "own", "none", "none");
const checkAudit = rule("read", "audit", "all", "none", "none", "none", "none", "none");

export const RULES = {
  "AllocationService.Submit": changeWork,
  "AllocationService.Get": seeWork,
  "AllocationService.List": seeWork,
  "AllocationService.Cancel": changeWork,
  "AllocationService.Update": changeWork,
  "AllocationService.Watch": seeWork,
  "AllocationService.GetLogs": readOutput,
  "AllocationService.StreamLogs": readOutput,
  "AllocationService.Explain": seeWork,
  "AllocationService.Plan": changeWork,
  "AllocationService.GetTimeline": seeWork,
  "AllocationService.QueryMetrics": seeMetrics,
  "AllocationService.StreamMetrics": seeMetrics,
  "AllocationService.GetDiagnostics": seeMetrics,
  "AllocationService.CompareMetrics": seeMetrics,
  "AllocationService.RequestCheckpoint": changeWork,
  "AllocationService.GetCheckpoint": seeWork,
  "AllocationService.Resume": changeWork,
  "SessionService.Attach": openTerminal,
  "SessionService.CreateSession": openSession,
  "SessionService.GetSession": seeWork,
  "SessionService.ListSessions": seeWork,
  "SessionService.DeleteSession": changeWork,
  "DagService.SubmitDag": changeWork,
  "DagService.GetDag": seeWork,
  "DagService.GetDagGraph": seeWork,
  "DagService.ListDags": seeWork,
  "DagService.CancelDag": changeWork,
  "NodeService.ListNodes": seeCluster,
  "NodeService.GetNode": seeCluster,
  "NodeService.GetNodeCondition": seeCluster,
  "NodeService.DrainNode": changeNodes,
  "NodeService.UndrainNode": changeNodes,
  "NodeService.DisableNode": disableNodes,
  "NodeService.EnableNode": disableNodes,
  // Only administrators of the cluster assign nodes.
  "NodeService.AssignNode": administer,
  "NodeService.ReportHealth": disableNodes,
  "TaskService.LaunchTasks": runInside,
  "TaskService.SendTaskInput": runInside,
  "TaskService.ControlLaunch": runInside,
  "AdminService.CreateTenant": administer,
  "AdminService.GetTenant": seeTenant,
  "AdminService.ListTenants": seeTenant,
  // An administrator of the tenant may lower its limits below those of the cluster; the handler checks that.
  "AdminService.UpdateTenant": changeTenant,
  "AdminService.DeleteTenant": administer,
  "AdminService.CreateVCluster": changeTenant,
  "AdminService.GetVCluster": seeCluster,
  "AdminService.ListVClusters": seeCluster,
  "AdminService.UpdateVCluster": changeTenant,
  "AdminService.DeleteVCluster": changeTenant,
  "AdminService.GetQueue": seeCluster,
  "AdminService.GetSchedulerStatus": seeCluster,
  "AdminService.GetServerMetrics": seeCluster,
  "AdminService.GetAccounting": seeWork,
  "AdminService.GetConfig": administer,
  "AdminService.SetConfig": administer,
  "AdminService.GetTenantUsage": seeTenant,
  "AdminService.GetUserUsage": seeUsage,
  "AdminService.GetClusterStatus": seeCluster,
  "AdminService.AddMember": addMember,
  "AdminService.RemoveMember": administer,
  "AdminService.TransferLeader": administer,
  "AdminService.CreateBackup": administer,
  "AdminService.ListBackups": administer,
  "AdminService.VerifyBackup": administer,
  "AdminService.RestoreBackup": administer,
  "AdminService.SetSignals": administer,
  "AdminService.GetSignals": seeCluster,
  "ImageService.ListImages": seeCluster,
  "ImageService.InspectImage": seeCluster,
  // A job could load the image as well; `sticky` needs the right to evict images.
  "ImageService.WarmCache": bringImages,
  "ImageService.GetCache": seeCluster,
  "ImageService.EvictImage": disableNodes,
  "AdminService.ListServices": seeTenant,
  "AdminService.LookupService": seeTenant,
  "NetworkService.ListDomains": seeTenant,
  "NetworkService.GetDomain": seeTenant,
  "NetworkService.SetDomainGrace": changeTenant,
  "EventService.ListEvents": seeWork,
  "EventService.StreamEvents": seeWork,
  "EventService.ListNotices": seeWork,
  "AccessService.AddGrant": changeGrants,
  "AccessService.RemoveGrant": changeGrants,
  "AccessService.ListGrants": seeGrants,
  "AccessService.RotateJobKey": administer,
  "AccessService.RotateAuditKey": administer,
  "AccessService.CreateEnrolment": administer,
  "AccessService.ListEnrolments": administer,
  "AccessService.RemoveEnrolment": administer,
  "AccessService.QueryAudit": readAudit,
  "AccessService.VerifyAudit": checkAudit,
  [PROXY_NAME]: useServices,
} as const satisfies Record<RuleName, Rule>;
