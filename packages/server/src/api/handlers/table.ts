// Every RPC, the server that runs it, and the function that answers it. The type comes from the contract: a missing or
// superfluous row does not compile, and REST and gRPC have the same calls.

import type { HandlerRow, HandlerTable } from "../call/rpc.ts";
import { getAccounting } from "./accounting.ts";
import * as allocations from "./allocations.ts";
import * as audit from "./audit.ts";
import { rotateAuditKey } from "./audit-key.ts";
import * as backups from "./backups.ts";
import * as checkpoints from "./checkpoints.ts";
import * as config from "./config.ts";
import * as dags from "./dags.ts";
import { getDiagnostics } from "./diagnostics.ts";
import * as enrolments from "./enrolments.ts";
import * as events from "./events.ts";
import { explain } from "./explain.ts";
import * as grants from "./grants.ts";
import * as images from "./images.ts";
import * as jobKey from "./job-key.ts";
import * as logs from "./logs.ts";
import * as members from "./members.ts";
import * as metrics from "./metrics.ts";
import * as networks from "./networks.ts";
import * as nodes from "./nodes.ts";
import { listNotices } from "./notices.ts";
import { plan } from "./plan.ts";
import { getQueue } from "./queue.ts";
import { getSchedulerStatus } from "./scheduler-status.ts";
import { getServerMetrics } from "./server-metrics.ts";
import * as services from "./services.ts";
import * as sessions from "./sessions.ts";
import * as signals from "./signals.ts";
import * as tasks from "./tasks.ts";
import * as tenants from "./tenants.ts";
import * as terminals from "./terminals.ts";
import { getTimeline } from "./timeline.ts";
import * as usage from "./usage.ts";
import * as vclusters from "./vclusters.ts";
import { watch } from "./watch.ts";

const anywhere = <H>(handle: H): HandlerRow<H> => ({ runs: "any", handle });
const atLeader = <H>(handle: H): HandlerRow<H> => ({ runs: "leader", handle });
const preferLeader = <H>(handle: H): HandlerRow<H> => ({ runs: "prefer_leader", handle });

export const handlers: HandlerTable = {
  "AllocationService.Submit": anywhere(allocations.submit),
  "AllocationService.Get": anywhere(allocations.get),
  "AllocationService.List": anywhere(allocations.list),
  "AllocationService.Cancel": anywhere(allocations.cancel),
  "AllocationService.Update": atLeader(allocations.update),
  "AllocationService.Watch": anywhere(watch),
  "AllocationService.GetLogs": anywhere(logs.getLogs),
  "AllocationService.StreamLogs": anywhere(logs.streamLogs),
  "AllocationService.Explain": atLeader(explain),
  "AllocationService.Plan": atLeader(plan),
  "AllocationService.GetTimeline": preferLeader(getTimeline),
  "AllocationService.QueryMetrics": atLeader(metrics.queryMetrics),
  "AllocationService.StreamMetrics": atLeader(metrics.streamMetrics),
  "AllocationService.GetDiagnostics": atLeader(getDiagnostics),
  "AllocationService.CompareMetrics": atLeader(metrics.compareMetrics),
  "AllocationService.RequestCheckpoint": atLeader(checkpoints.requestCheckpoint),
  "AllocationService.GetCheckpoint": atLeader(checkpoints.getCheckpoint),
  "AllocationService.Resume": anywhere(checkpoints.resume),
  "SessionService.Attach": atLeader(terminals.attach),
  "SessionService.CreateSession": anywhere(sessions.createSession),
  "SessionService.GetSession": anywhere(sessions.getSession),
  "SessionService.ListSessions": anywhere(sessions.listSessions),
  "SessionService.DeleteSession": anywhere(sessions.deleteSession),
  "DagService.SubmitDag": anywhere(dags.submitDag),
  "DagService.GetDag": anywhere(dags.getDag),
  "DagService.GetDagGraph": anywhere(dags.getDagGraph),
  "DagService.ListDags": anywhere(dags.listDags),
  "DagService.CancelDag": anywhere(dags.cancelDag),
  "NodeService.ListNodes": anywhere(nodes.listNodes),
  "NodeService.GetNode": anywhere(nodes.getNode),
  "NodeService.GetNodeCondition": atLeader(nodes.getNodeCondition),
  "NodeService.DrainNode": anywhere(nodes.drainNode),
  "NodeService.UndrainNode": anywhere(nodes.undrainNode),
  "NodeService.DisableNode": anywhere(nodes.disableNode),
  "NodeService.EnableNode": anywhere(nodes.enableNode),
  "NodeService.AssignNode": anywhere(nodes.assignNode),
  "NodeService.ReportHealth": anywhere(nodes.reportHealth),
  "TaskService.LaunchTasks": atLeader(tasks.launchTasks),
  "TaskService.SendTaskInput": atLeader(tasks.sendTaskInput),
  "TaskService.ControlLaunch": atLeader(tasks.controlLaunch),
  "AdminService.CreateTenant": anywhere(tenants.createTenant),
  "AdminService.GetTenant": anywhere(tenants.getTenant),
  "AdminService.ListTenants": anywhere(tenants.listTenants),
  "AdminService.UpdateTenant": anywhere(tenants.updateTenant),
  "AdminService.DeleteTenant": anywhere(tenants.deleteTenant),
  "AdminService.CreateVCluster": anywhere(vclusters.createVCluster),
  "AdminService.GetVCluster": anywhere(vclusters.getVCluster),
  "AdminService.ListVClusters": anywhere(vclusters.listVClusters),
  "AdminService.UpdateVCluster": anywhere(vclusters.updateVCluster),
  "AdminService.DeleteVCluster": anywhere(vclusters.deleteVCluster),
  "AdminService.GetQueue": atLeader(getQueue),
  "AdminService.GetSchedulerStatus": atLeader(getSchedulerStatus),
  "AdminService.GetServerMetrics": {
    runs: ({ component }) => (component === "scheduler" ? "leader" : "any"),
    handle: getServerMetrics,
  },
  "AdminService.GetAccounting": anywhere(getAccounting),
  "AdminService.GetConfig": anywhere(config.getConfig),
  "AdminService.SetConfig": anywhere(config.setConfig),
  "AdminService.GetTenantUsage": anywhere(usage.getTenantUsage),
  "AdminService.GetUserUsage": anywhere(usage.getUserUsage),
  "AdminService.GetClusterStatus": anywhere(members.getClusterStatus),
  "AdminService.AddMember": anywhere(members.addMember),
  "AdminService.RemoveMember": anywhere(members.removeMember),
  "AdminService.TransferLeader": anywhere(members.transferLeader),
  "AdminService.CreateBackup": anywhere(backups.createBackup),
  "AdminService.ListBackups": anywhere(backups.listBackups),
  "AdminService.VerifyBackup": anywhere(backups.verifyBackup),
  "AdminService.RestoreBackup": anywhere(backups.restoreBackup),
  "AdminService.SetSignals": atLeader(signals.setSignals),
  "AdminService.GetSignals": atLeader(signals.getSignals),
  "ImageService.ListImages": atLeader(images.listImages),
  "ImageService.InspectImage": atLeader(images.inspectImage),
  "ImageService.WarmCache": atLeader(images.warmCache),
  "ImageService.GetCache": atLeader(images.getCache),
  "ImageService.EvictImage": atLeader(images.evictImage),
  "AdminService.ListServices": anywhere(services.listServices),
  "AdminService.LookupService": anywhere(services.lookupService),
  "EventService.ListEvents": anywhere(events.listEvents),
  "EventService.StreamEvents": anywhere(events.streamEvents),
  "EventService.ListNotices": anywhere(listNotices),
  "NetworkService.ListDomains": anywhere(networks.listDomains),
  "NetworkService.GetDomain": anywhere(networks.getDomain),
  "NetworkService.SetDomainGrace": anywhere(networks.setDomainGrace),
  "AccessService.AddGrant": anywhere(grants.addGrant),
  "AccessService.RemoveGrant": anywhere(grants.removeGrant),
  "AccessService.ListGrants": anywhere(grants.listGrants),
  "AccessService.RotateJobKey": anywhere(jobKey.rotateJobKey),
  "AccessService.RotateAuditKey": anywhere(rotateAuditKey),
  "AccessService.CreateEnrolment": anywhere(enrolments.createEnrolment),
  "AccessService.ListEnrolments": anywhere(enrolments.listEnrolments),
  "AccessService.RemoveEnrolment": anywhere(enrolments.removeEnrolment),
  "AccessService.QueryAudit": anywhere(audit.queryAudit),
  "AccessService.VerifyAudit": anywhere(audit.verifyAudit),
};
