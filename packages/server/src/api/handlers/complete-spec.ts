// A submission made complete with the defaults of the caller, the vCluster and the configuration, and
// checked by itself, so that what is wrong is told before anything is written.

import {
  type AllocationSpec,
  checkShape,
  checkSpec,
  type GroupShape,
  type TenantId,
  type VClusterId,
  type View,
} from "@lattice/core";
import { fieldError, type pb, shapeFromProto, specFromProto } from "@lattice/wire";
import type { Call } from "../call.ts";

const DEFAULT_TENANT = "default" as TenantId;

export function completeSpec(call: Call, written: pb.AllocationSpec): AllocationSpec {
  const view = call.plane.view();
  const stated = specFromProto(written, {
    tenant: call.principal.tenant ?? DEFAULT_TENANT,
    vcluster: defaultVCluster(view),
    defaultWalltimeMs: (vcluster) => view.vcluster(vcluster as VClusterId)?.defaultWalltime ?? null,
  });
  const spec = { ...stated, slurmEnv: stated.slurmEnv || call.config.compat.setSlurmEnv };
  const problems = checkSpec(spec);
  if (problems.length > 0) throw fieldError(problems);
  return spec;
}

/** Null: one allocation. */
export function shapeOf(written: pb.AllocationSpec): GroupShape | null {
  if (written.taskGroup === undefined) return null;
  const shape = shapeFromProto(written.taskGroup);
  const problems = checkShape(shape);
  if (problems.length > 0) throw fieldError(problems);
  return shape;
}

/** Empty when the cluster has none: the field is then missing. */
function defaultVCluster(view: View): string {
  for (const vcluster of view.vclusters()) if (vcluster.isDefault) return vcluster.id;
  return "";
}
