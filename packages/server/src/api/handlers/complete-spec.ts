// A submission made complete with the defaults of the caller, the vCluster and the configuration, and
// checked by itself, so that problems are reported before anything is written.

import {
  type AllocationSpec,
  checkShape,
  checkSpec,
  type GroupShape,
  type TenantId,
  type VClusterId,
} from "@lattice/core";
import { fieldError, type pb, shapeFromProto, specFromProto } from "@lattice/wire";
import type { Call } from "../call.ts";
import { vclusterFor } from "./intent.ts";

const DEFAULT_TENANT = "default" as TenantId;

/** `otherwise`: the intent of such work, where nothing serves the one that was written. */
export function completeSpec(call: Call, written: pb.AllocationSpec, otherwise = ""): AllocationSpec {
  const view = call.plane.view();
  const tenant = call.principal.tenant ?? DEFAULT_TENANT;
  const stated = specFromProto(written, {
    tenant,
    vcluster: written.vcluster === "" ? vclusterFor(view, [written.intent, otherwise], written.tenant || tenant) : "",
    defaultWalltimeMs: (vcluster) => view.vcluster(vcluster as VClusterId)?.defaultWalltime ?? null,
  });
  const spec = { ...stated, slurmEnv: stated.slurmEnv || call.config.compat.setSlurmEnv };
  const problems = checkSpec(spec);
  if (problems.length > 0) throw fieldError(problems);
  return spec;
}

/** `null` for a single allocation. */
export function shapeOf(written: pb.AllocationSpec): GroupShape | null {
  if (written.taskGroup === undefined) return null;
  const shape = shapeFromProto(written.taskGroup);
  const problems = checkShape(shape);
  if (problems.length > 0) throw fieldError(problems);
  return shape;
}

/** What the caller should hear of a vCluster that was chosen for it. */
export const choiceOf = (written: pb.AllocationSpec, { vcluster, intent }: AllocationSpec): readonly string[] =>
  written.vcluster === "" && intent !== "" ? [`vCluster "${vcluster}" was chosen for the intent "${intent}"`] : [];
