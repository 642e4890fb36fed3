// Every RPC and the function that answers it. The type comes from the contract: a missing or
// superfluous entry does not compile, and neither door can offer what the other lacks.

import type { HandlerTable } from "../rpc.ts";
import { getAccounting } from "./accounting.ts";
import * as allocations from "./allocations.ts";
import * as audit from "./audit.ts";
import * as backups from "./backups.ts";
import * as checkpoints from "./checkpoints.ts";
import * as cluster from "./cluster.ts";
import * as config from "./config.ts";
import * as dags from "./dags.ts";
import { getDiagnostics } from "./diagnostics.ts";
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
import * as removal from "./removal.ts";
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

export const handlers: HandlerTable = {
  "AllocationService.Submit": allocations.submit,
  "AllocationService.Get": allocations.get,
  "AllocationService.List": allocations.list,
  "AllocationService.Cancel": allocations.cancel,
  "AllocationService.Update": allocations.update,
  "AllocationService.Watch": watch,
  "AllocationService.GetLogs": logs.getLogs,
  "AllocationService.StreamLogs": logs.streamLogs,
  "AllocationService.Explain": explain,
  "AllocationService.Plan": plan,
  "AllocationService.GetTimeline": getTimeline,
  "AllocationService.QueryMetrics": metrics.queryMetrics,
  "AllocationService.StreamMetrics": metrics.streamMetrics,
  "AllocationService.GetDiagnostics": getDiagnostics,
  "AllocationService.CompareMetrics": metrics.compareMetrics,
  "AllocationService.RequestCheckpoint": checkpoints.requestCheckpoint,
  "AllocationService.GetCheckpoint": checkpoints.getCheckpoint,
  "AllocationService.Resume": checkpoints.resume,
  "SessionService.Attach": terminals.attach,
  "SessionService.CreateSession": sessions.createSession,
  "SessionService.GetSession": sessions.getSession,
  "SessionService.ListSessions": sessions.listSessions,
  "SessionService.DeleteSession": sessions.deleteSession,
  "DagService.SubmitDag": dags.submitDag,
  "DagService.GetDag": dags.getDag,
  "DagService.GetDagGraph": dags.getDagGraph,
  "DagService.ListDags": dags.listDags,
  "DagService.CancelDag": dags.cancelDag,
  "NodeService.ListNodes": nodes.listNodes,
  "NodeService.GetNode": nodes.getNode,
  "NodeService.GetNodeCondition": nodes.getNodeCondition,
  "NodeService.DrainNode": nodes.drainNode,
  "NodeService.UndrainNode": nodes.undrainNode,
  "NodeService.DisableNode": nodes.disableNode,
  "NodeService.EnableNode": nodes.enableNode,
  "NodeService.AssignNode": nodes.assignNode,
  "NodeService.ReportHealth": nodes.reportHealth,
  "TaskService.LaunchTasks": tasks.launchTasks,
  "TaskService.SendTaskInput": tasks.sendTaskInput,
  "TaskService.TellLaunch": tasks.tellLaunch,
  "AdminService.CreateTenant": tenants.createTenant,
  "AdminService.GetTenant": tenants.getTenant,
  "AdminService.ListTenants": tenants.listTenants,
  "AdminService.UpdateTenant": tenants.updateTenant,
  "AdminService.DeleteTenant": removal.deleteTenant,
  "AdminService.CreateVCluster": vclusters.createVCluster,
  "AdminService.GetVCluster": vclusters.getVCluster,
  "AdminService.ListVClusters": vclusters.listVClusters,
  "AdminService.UpdateVCluster": vclusters.updateVCluster,
  "AdminService.DeleteVCluster": removal.deleteVCluster,
  "AdminService.GetQueue": getQueue,
  "AdminService.GetSchedulerStatus": getSchedulerStatus,
  "AdminService.GetServerMetrics": getServerMetrics,
  "AdminService.GetAccounting": getAccounting,
  "AdminService.GetConfig": config.getConfig,
  "AdminService.SetConfig": config.setConfig,
  "AdminService.GetTenantUsage": usage.getTenantUsage,
  "AdminService.GetUserUsage": usage.getUserUsage,
  "AdminService.GetClusterStatus": cluster.getClusterStatus,
  "AdminService.AddMember": members.addMember,
  "AdminService.RemoveMember": members.removeMember,
  "AdminService.TransferLeader": members.transferLeader,
  "AdminService.CreateBackup": backups.createBackup,
  "AdminService.ListBackups": backups.listBackups,
  "AdminService.VerifyBackup": backups.verifyBackup,
  "AdminService.RestoreBackup": backups.restoreBackup,
  "AdminService.SetSignals": signals.setSignals,
  "AdminService.GetSignals": signals.getSignals,
  "ImageService.ListImages": images.listImages,
  "ImageService.InspectImage": images.inspectImage,
  "ImageService.WarmCache": images.warmCache,
  "ImageService.GetCache": images.getCache,
  "ImageService.EvictImage": images.evictImage,
  "AdminService.ListServices": services.listServices,
  "AdminService.LookupService": services.lookupService,
  "EventService.ListEvents": events.listEvents,
  "EventService.StreamEvents": events.streamEvents,
  "EventService.ListNotices": listNotices,
  "NetworkService.ListDomains": networks.listDomains,
  "NetworkService.GetDomain": networks.getDomain,
  "NetworkService.SetDomainGrace": networks.setDomainGrace,
  "AccessService.AddGrant": grants.addGrant,
  "AccessService.RemoveGrant": grants.removeGrant,
  "AccessService.ListGrants": grants.listGrants,
  "AccessService.RotateJobKey": jobKey.rotateJobKey,
  "AccessService.QueryAudit": audit.queryAudit,
  "AccessService.VerifyAudit": audit.verifyAudit,
};
