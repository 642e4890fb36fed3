// The columns of the node table, and texts shared with the node details.

import type { Node } from "@lattice/sdk";
import { type Paint, paintState } from "../../output/paint.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT, capitalise } from "../../output/text.ts";

export function nodeColumns(paint: Paint, wide: boolean): readonly Column<Node>[] {
  const narrow: Column<Node>[] = [
    { header: "NODE", value: ({ id }) => id, flexible: true },
    { header: "STATE", value: stateText, paint: (text, { state }) => paintState(paint, state, text) },
    { header: "GPUS", value: gpuText },
    {
      header: "VCLUSTER",
      value: (node) =>
        distinct(
          node.claims?.map(({ vcluster }) => vcluster),
          node.home_vcluster,
        ),
      flexible: true,
    },
    {
      header: "TENANT",
      value: (node) =>
        distinct(
          node.claims?.map(({ tenant }) => tenant),
          node.home_tenant,
        ),
      flexible: true,
    },
    { header: "GROUP", value: ({ group }) => group || ABSENT },
    { header: "CONFORMANCE", value: ({ conformance }) => conformance?.slice(0, 12) || ABSENT, flexible: true },
  ];
  if (!wide) return narrow;
  return [
    ...narrow,
    { header: "CPUS", value: ({ capabilities }) => String(capabilities?.cpu_cores ?? ABSENT), align: "right" },
    { header: "MEMORY", value: memoryText, align: "right" },
    { header: "ALLOCATIONS", value: allocationsText, flexible: true },
    { header: "AGENT", value: ({ agent_version }) => agent_version || ABSENT },
    { header: "REASON", value: ({ reason }) => reason || ABSENT, flexible: true },
  ];
}

/** Adds the cause of `down`, because some causes recover without an administrator. */
export const stateText = ({ state, cause }: Node): string =>
  cause === undefined || cause === "" ? capitalise(state) : `${capitalise(state)} (${cause})`;

export function gpuText({ capabilities }: Node): string {
  const count = capabilities?.gpu_count ?? 0;
  return count === 0 ? ABSENT : `${count}×${capabilities?.gpu_type || "GPU"}`;
}

export function memoryText({ capabilities }: Node): string {
  const gb = capabilities?.memory_gb ?? 0;
  return gb === 0 ? ABSENT : `${gb >= 10 ? Math.round(gb) : Math.round(gb * 10) / 10} GB`;
}

export const allocationsText = ({ claims = [] }: Node): string =>
  claims
    .map(({ allocation_id, releasing }) => `${allocation_id || "(hidden)"}${releasing === true ? " (ending)" : ""}`)
    .join(",") || ABSENT;

/** Joins the distinct values of the claims, or returns the fallback. */
function distinct(values: readonly (string | undefined)[] | undefined, fallback: string | undefined): string {
  const known = [...new Set((values ?? []).filter((value) => value !== undefined && value !== ""))];
  return known.length > 0 ? known.join(",") : fallback || ABSENT;
}
