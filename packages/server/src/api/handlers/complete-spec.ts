// Completes a submission with the defaults of the caller, the vCluster and the configuration, and checks it, so that
// problems are reported before anything is written.

import {
  type AllocationSpec,
  type Capabilities,
  checkShape,
  checkSpec,
  DEFAULT_TENANT,
  type Duration,
  type GroupShape,
  parseVClusterId,
  type View,
} from "@lattice/core";
import { fieldError, type pb, shapeFromProto, specFromProto } from "@lattice/wire";
import type { Call } from "../call/call.ts";
import { vclusterFor } from "./intent.ts";
import { layOutTasks } from "./task-layout.ts";

/** `defaultIntent` applies when no vCluster serves the intent of the submission. */
export function completeSpec(call: Call, written: pb.AllocationSpec, defaultIntent = ""): AllocationSpec {
  const view = call.plane.view();
  const tenant = call.principal.tenant ?? DEFAULT_TENANT;
  const vcluster =
    written.vcluster === "" ? vclusterFor(view, [written.intent, defaultIntent], written.tenant || tenant) : "";
  const stated = specFromProto(
    inNodes(written, () => offersIn(view, written.vcluster || vcluster)),
    {
      tenant,
      vcluster,
      defaultWalltimeMs: (vcluster) => defaultWalltime(view, vcluster),
    },
  );
  const spec = { ...stated, slurmEnv: stated.slurmEnv || call.config.compat.setSlurmEnv };
  const problems = checkSpec(spec);
  if (problems.length > 0) throw fieldError(problems);
  return spec;
}

/** A request in tasks becomes one in nodes. */
const inNodes = (written: pb.AllocationSpec, offers: () => readonly Capabilities[]): pb.AllocationSpec =>
  written.resources === undefined ? written : { ...written, resources: layOutTasks(written.resources, offers) };

/** The nodes that serve the vCluster. */
const offersIn = (view: View, vcluster: string): readonly Capabilities[] =>
  [...view.nodes()]
    .filter(({ homeVCluster }) => homeVCluster === null || homeVCluster === vcluster)
    .map(({ capabilities }) => capabilities);

function defaultWalltime(view: View, name: string): Duration | null {
  const id = parseVClusterId(name);
  return (id === null ? undefined : view.vcluster(id)?.defaultWalltime) ?? null;
}

/** Returns `null` for a single allocation. */
export function shapeOf(written: pb.AllocationSpec): GroupShape | null {
  if (written.taskGroup === undefined) return null;
  const shape = shapeFromProto(written.taskGroup);
  const problems = checkShape(shape);
  if (problems.length > 0) throw fieldError(problems);
  return shape;
}

/** Returns the warning about a vCluster that was chosen by intent. */
export const choiceOf = (written: pb.AllocationSpec, { vcluster, intent }: AllocationSpec): readonly string[] =>
  written.vcluster === "" && intent !== "" ? [`vCluster "${vcluster}" was chosen for the intent "${intent}"`] : [];
