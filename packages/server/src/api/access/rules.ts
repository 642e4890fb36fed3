// Who may do what, as data: for each RPC, how far each role reaches. A principal with several roles
// reaches as far as the widest of them. A test walks every RPC and every role.
//
//   all     everything
//   tenant  what belongs to the principal's tenant
//   own     what the principal submitted itself
//   none    nothing
//
// Logs are the content of a user's work, so they reach less far than its state.

import type { Role } from "../auth/principal.ts";
import type { RpcName } from "../rpc.ts";

export type Reach = "all" | "tenant" | "own" | "none";
export type Row = Readonly<Record<Role, Reach>>;

/** In the order SystemAdmin, TenantAdmin, Operator, ClaimingUser, ReadOnly, User. */
const row = (...reach: readonly [Reach, Reach, Reach, Reach, Reach, Reach]): Row => ({
  SystemAdmin: reach[0],
  TenantAdmin: reach[1],
  Operator: reach[2],
  ClaimingUser: reach[3],
  ReadOnly: reach[4],
  User: reach[5],
});

const seeWork = row("all", "tenant", "all", "tenant", "all", "tenant");
const changeWork = row("all", "tenant", "own", "own", "none", "own");
const readOutput = row("all", "tenant", "own", "own", "none", "own");
/** Figures of the machine rather than content; those who watch over it need them. */
const seeMetrics = row("all", "tenant", "all", "own", "all", "own");
/** A terminal is the owner's alone; the handler asks for that besides. */
const openTerminal = row("all", "tenant", "own", "own", "none", "own");
const seeCluster = row("all", "all", "all", "all", "all", "all");
const changeNodes = row("all", "tenant", "all", "none", "none", "none");
const disableNodes = row("all", "none", "all", "none", "none", "none");
const bringImages = row("all", "all", "all", "all", "none", "all");
const administer = row("all", "none", "none", "none", "none", "none");
const changeTenant = row("all", "tenant", "none", "none", "none", "none");
const seeTenant = row("all", "tenant", "all", "tenant", "all", "tenant");

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
  "SessionService.Attach": openTerminal,
  "SessionService.CreateSession": changeWork,
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
  "NodeService.ReportHealth": disableNodes,
  "TaskService.LaunchTasks": changeWork,
  "TaskService.SendTaskInput": changeWork,
  "AdminService.CreateTenant": administer,
  "AdminService.GetTenant": seeTenant,
  "AdminService.ListTenants": seeTenant,
  // A tenant's administrator must not raise the limits set for the tenant.
  "AdminService.UpdateTenant": administer,
  "AdminService.DeleteTenant": administer,
  "AdminService.CreateVCluster": changeTenant,
  "AdminService.GetVCluster": seeCluster,
  "AdminService.ListVClusters": seeCluster,
  "AdminService.UpdateVCluster": changeTenant,
  "AdminService.DeleteVCluster": changeTenant,
  "AdminService.GetQueue": seeCluster,
  "AdminService.GetSchedulerStatus": seeCluster,
  "AdminService.GetAccounting": seeWork,
  "AdminService.GetConfig": administer,
  "AdminService.SetConfig": administer,
  "AdminService.GetTenantUsage": seeTenant,
  "AdminService.GetUserUsage": seeTenant,
  "AdminService.GetClusterStatus": seeCluster,
  "AdminService.AddMember": administer,
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
  // A job of theirs would do the same; keeping an image for good is asked for apart.
  "ImageService.WarmCache": bringImages,
  "ImageService.GetCache": seeCluster,
  "ImageService.EvictImage": disableNodes,
  "AdminService.ListServices": seeTenant,
  "AdminService.LookupService": seeTenant,
  "EventService.ListEvents": seeWork,
  "EventService.StreamEvents": seeWork,
  // Of a tenant its administrators see all, its users what concerns them; the handler asks for that.
  "EventService.ListNotices": seeWork,
} as const satisfies Record<RpcName, Row>;
