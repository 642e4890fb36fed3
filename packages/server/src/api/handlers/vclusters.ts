// vClusters: queues with a scheduling policy.

import { create } from "@bufbuild/protobuf";
import {
  duration,
  parseTenantId,
  parseVClusterId,
  type SchedulerKind,
  seconds,
  type TenantId,
  type UpdateVClusterCommand,
  type VCluster,
  type VClusterId,
  type View,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { pb, schedulerFromProto, sharingFromProto, vclusterToProto, weightsFromProto } from "@lattice/wire";
import { checkText, invalid, unknownTenant, unknownVCluster } from "../../base/problems.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { MAX_DESCRIPTION_LENGTH } from "../limits/limits.ts";
import { commit, originOf } from "./commit.ts";
import { inOrder, pageOf } from "./page.ts";
import { normalised } from "./weights.ts";

const DEFAULT_WALLTIME = duration(24 * 3_600_000);

/** Between 5 and 30 s: interactive queues need short cycles, batch queues do not. */
const CYCLE_SECONDS: Readonly<Record<SchedulerKind, number>> = {
  hpc_backfill: 15,
  ml_training: 15,
  service_bin_pack: 10,
  interactive_fifo: 5,
  sensitive_reservation: 15,
};

export async function createVCluster(call: Call, request: pb.CreateVClusterRequest): Promise<pb.VClusterResponse> {
  const vcluster = parseVClusterId(request.id);
  if (vcluster === null)
    throw invalid("id", "is not a name", "Use letters, digits, dots, dashes and underscores, at most 63.");
  const tenant = request.tenant === "" ? null : tenantOf(call, request.tenant);
  authorize(call.principal, "AdminService.CreateVCluster", { tenant, user: null });
  checkText("description", request.description, MAX_DESCRIPTION_LENGTH);
  const scheduler = schedulerOf(request.scheduler);
  const maxWalltime = limitOf(request.maxWalltimeSeconds);
  const { weights, warning } = normalised({ ...WEIGHT_PROFILES[scheduler], ...weightsFromProto(request.weights) });
  const { index } = await commit(call, {
    kind: "vcluster.create",
    origin: originOf(call, pb.CreateVClusterRequestSchema, request),
    vcluster,
    description: request.description,
    tenant,
    scheduler,
    weights,
    cycleInterval: seconds(request.cycleIntervalSeconds ?? CYCLE_SECONDS[scheduler]),
    backfillDepth: request.backfillDepth ?? call.config.scheduling.backfillDepth,
    defaultWalltime:
      request.defaultWalltimeSeconds === undefined
        ? duration(Math.min(DEFAULT_WALLTIME, maxWalltime ?? DEFAULT_WALLTIME))
        : seconds(request.defaultWalltimeSeconds),
    maxWalltime,
    isDefault: false,
    ...sharingFromProto(request, null),
  });
  return answer(call, vcluster, String(index), warning);
}

export async function getVCluster(call: Call, request: pb.GetVClusterRequest): Promise<pb.VCluster> {
  authorize(call.principal, "AdminService.GetVCluster", UNOWNED);
  return shown(call.plane.view(), find(call, request.id), null);
}

export async function listVClusters(call: Call, request: pb.ListVClustersRequest): Promise<pb.ListVClustersResponse> {
  authorize(call.principal, "AdminService.ListVClusters", UNOWNED);
  const view = call.plane.view();
  const page = pageOf(inOrder(view.vclusters()), request, () => true);
  const running = runningByVCluster(view);
  return create(pb.ListVClustersResponseSchema, {
    vclusters: page.shown.map((vcluster) => shown(view, vcluster, running)),
    nextPageToken: page.next,
    logIndex: String(view.index),
  });
}

export async function updateVCluster(call: Call, request: pb.UpdateVClusterRequest): Promise<pb.VClusterResponse> {
  const vcluster = find(call, request.id);
  authorize(call.principal, "AdminService.UpdateVCluster", { tenant: vcluster.tenant, user: null });
  checkText("description", request.description ?? "", MAX_DESCRIPTION_LENGTH);
  const stated = weightsFromProto(request.weights);
  const weighs = Object.keys(stated).length > 0;
  const { weights, warning } = normalised({ ...vcluster.weights, ...stated });
  const change: UpdateVClusterCommand["change"] = {
    ...(request.description === undefined ? {} : { description: request.description }),
    ...(weighs ? { weights } : {}),
    ...(request.cycleIntervalSeconds === undefined ? {} : { cycleInterval: seconds(request.cycleIntervalSeconds) }),
    ...(request.backfillDepth === undefined ? {} : { backfillDepth: request.backfillDepth }),
    ...(request.defaultWalltimeSeconds === undefined
      ? {}
      : { defaultWalltime: seconds(request.defaultWalltimeSeconds) }),
    ...(request.maxWalltimeSeconds === undefined ? {} : { maxWalltime: limitOf(request.maxWalltimeSeconds) }),
    ...sharingFromProto(request, vcluster.lending ?? null),
  };
  if (Object.keys(change).length === 0) throw invalid("body", "changes nothing", "Name at least one field.");
  const origin = originOf(call, pb.UpdateVClusterRequestSchema, request);
  const { index } = await commit(call, { kind: "vcluster.update", origin, vcluster: vcluster.id, change });
  return answer(call, vcluster.id, String(index), weighs ? warning : null);
}

/** 0 means "no limit" in the contract. */
const limitOf = (s: number | undefined) => (s === undefined || s === 0 ? null : seconds(s));

function schedulerOf(type: pb.SchedulerType): SchedulerKind {
  if (type === pb.SchedulerType.UNSPECIFIED) return "hpc_backfill";
  const scheduler = schedulerFromProto(type);
  if (scheduler === null) throw invalid("scheduler", `${type} is not a scheduler`);
  return scheduler;
}

function tenantOf(call: Call, id: string): TenantId {
  const parsed = parseTenantId(id);
  if (parsed === null || call.plane.view().tenant(parsed) === undefined) throw unknownTenant(id);
  return parsed;
}

function find(call: Call, id: string): VCluster {
  const parsed = parseVClusterId(id);
  const vcluster = parsed === null ? undefined : call.plane.view().vcluster(parsed);
  if (vcluster === undefined) throw unknownVCluster(id);
  return vcluster;
}

function answer(call: Call, id: VClusterId, logIndex: string, warning: string | null): pb.VClusterResponse {
  const vcluster = shown(call.plane.view(), find(call, id), null);
  return create(pb.VClusterResponseSchema, { vcluster, logIndex, warnings: warning === null ? [] : [warning] });
}

/** Counts the running allocations itself when `running` is `null`. */
function shown(view: View, vcluster: VCluster, running: ReadonlyMap<VClusterId, number> | null): pb.VCluster {
  const counts = running ?? runningByVCluster(view);
  return vclusterToProto(vcluster, { pending: view.pendingCount(vcluster.id), running: counts.get(vcluster.id) ?? 0 });
}

/** One pass over the placed allocations, which are bounded by the number of nodes. */
function runningByVCluster(view: View): Map<VClusterId, number> {
  const counts = new Map<VClusterId, number>();
  for (const { spec } of view.placed()) counts.set(spec.vcluster, (counts.get(spec.vcluster) ?? 0) + 1);
  return counts;
}

export async function deleteVCluster(call: Call, request: pb.DeleteVClusterRequest): Promise<pb.DeleteResponse> {
  const vcluster = parseVClusterId(request.id);
  if (vcluster === null) throw unknownVCluster(request.id);
  const tenant = call.plane.view().vcluster(vcluster)?.tenant ?? null;
  authorize(call.principal, "AdminService.DeleteVCluster", { tenant, user: null });
  const origin = originOf(call, pb.DeleteVClusterRequestSchema, request);
  const { index } = await commit(call, { kind: "vcluster.delete", origin, vcluster });
  return create(pb.DeleteResponseSchema, { id: vcluster, logIndex: String(index) });
}
