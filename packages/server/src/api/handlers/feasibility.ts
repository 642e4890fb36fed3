// Requests that no set of nodes of the cluster satisfies, even with every node idle. They are refused, or, where the site
// expects nodes to join later, accepted with a warning. A cluster without nodes refuses nothing: nothing is known of it.

import { type AllocationSpec, borrowRefusal, type Node, type Shortfall, shortfalls, type View } from "@lattice/core";
import { nearest, ProblemError } from "@lattice/wire";
import type { Call } from "../call/call.ts";
import { unavailableFeatures } from "./unavailable-features.ts";

interface Impossible {
  readonly field: string;
  /** A sentence without its full stop. */
  readonly detail: string;
}

/** Returns warnings, or throws `constraint_unmet`, by the setting `scheduling.impossible_requests`. */
export function checkFeasible(call: Call, spec: AllocationSpec): readonly string[] {
  const found = impossible(call.plane.view(), spec);
  if (found.length === 0) return [];
  if (call.config.scheduling.impossibleRequests === "warn")
    return found.map(({ detail }) => `${detail}: it waits until nodes join that satisfy it`);
  throw infeasible(found);
}

/** For dry runs, which explain instead. */
export const infeasibilityWarnings = (call: Call, spec: AllocationSpec): readonly string[] =>
  impossible(call.plane.view(), spec).map(({ detail }) =>
    call.config.scheduling.impossibleRequests === "warn"
      ? `${detail}: it waits until nodes join that satisfy it`
      : `${detail}: a submission is refused`,
  );

const infeasible = (found: readonly Impossible[]): ProblemError =>
  new ProblemError("constraint_unmet", {
    detail: "no nodes of the cluster satisfy this request",
    fields: found.map(({ field, detail }) => ({ field: `allocation.resources.${field}`, detail })),
    hint: "See the nodes: lattice nodes",
  });

export function impossible(view: View, spec: AllocationSpec): readonly Impossible[] {
  const { minNodes, constraints } = spec.resources;
  let [total, usable, matching] = [0, 0, 0];
  let closest: { readonly node: Node; readonly lacks: readonly Shortfall[] } | null = null;
  const missing = new Set<string>(constraints.requiredNodes);
  for (const node of view.nodes()) {
    total += 1;
    if (!mayUse(view, spec, node)) continue;
    usable += 1;
    const lacks = shortfalls(constraints, node.id, node.capabilities);
    if (lacks.length === 0) {
      matching += 1;
      missing.delete(node.id);
    } else if (closest === null || lacks.length < closest.lacks.length) closest = { node, lacks };
    // The usual request is satisfied by the first nodes.
    if (matching >= minNodes && missing.size === 0) return [];
  }
  if (total === 0) return [];
  const absent = [...missing].find((name) => view.node(name as Node["id"]) === undefined);
  if (absent !== undefined) return [{ field: "constraints.required_nodes", detail: unknownNode(view, absent) }];
  const features = unavailableFeatures(view, spec);
  if (features.length > 0) return features.map((detail) => ({ field: "constraints.features", detail }));
  if (matching >= minNodes && missing.size > 0) {
    const detail = `the required node "${[...missing][0]}" does not satisfy the other constraints`;
    return [{ field: "constraints.required_nodes", detail }];
  }
  if (matching === 0 && closest !== null) return [{ field: "constraints", detail: shortfallText(closest) }];
  return [{ field: "nodes", detail: tooFew(spec, { total, usable, matching }) }];
}

const mayUse = (view: View, spec: AllocationSpec, { homeVCluster }: Node): boolean =>
  homeVCluster === null || homeVCluster === spec.vcluster || borrowRefusal(view, spec, homeVCluster) === null;

function unknownNode(view: View, name: string): string {
  const near = nearest(
    name,
    [...view.nodes()].map(({ id }) => id),
  );
  return `there is no node "${name}"${near === null ? "" : `; the nearest name is "${near}"`}`;
}

interface Counts {
  readonly total: number;
  readonly usable: number;
  readonly matching: number;
}

function tooFew({ vcluster, resources }: AllocationSpec, { total, usable, matching }: Counts): string {
  const needs = `it needs ${nodes(resources.minNodes)}`;
  if (matching === total) return `${needs}, but the cluster has only ${total}`;
  if (matching === usable) return `${needs}, but vCluster "${vcluster}" may use only ${usable}`;
  return `${needs}, but only ${matching} of ${total} satisfy its constraints`;
}

const nodes = (count: number): string => (count === 1 ? "1 node" : `${count} nodes`);

const shortfallText = ({ node, lacks }: { readonly node: Node; readonly lacks: readonly Shortfall[] }): string =>
  `no node satisfies the constraints; the closest, "${node.id}", ${lacks.map(textOf).join(" and ")}`;

const gigabytes = (bytes: number): string => `${Math.round((bytes / 2 ** 30) * 10) / 10} GB`;

function textOf(shortfall: Shortfall): string {
  switch (shortfall.kind) {
    case "excluded":
      return "is excluded";
    case "gpu_type":
      return shortfall.has === ""
        ? `has no GPU (requested: ${shortfall.wanted})`
        : `has GPUs of type ${shortfall.has}, not ${shortfall.wanted}`;
    case "gpu_count":
      return `has ${shortfall.has === 0 ? "no GPU" : `${shortfall.has} GPUs`} (requested: ${shortfall.wanted})`;
    case "memory":
      return `has ${gigabytes(shortfall.has)} of memory (requested: ${gigabytes(shortfall.wanted)})`;
    case "unified_memory":
      return "has no memory that CPU and GPU share";
    case "cpu_cores":
      return `has ${shortfall.has} cores (requested: ${shortfall.wanted})`;
    case "feature":
      return `lacks the feature ${shortfall.wanted}`;
  }
}
