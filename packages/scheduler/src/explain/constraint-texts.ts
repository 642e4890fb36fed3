// The words for each constraint: the text of a request without it, and of nodes that fall short of it. A new constraint
// or shortfall does not compile before it has a row here.

import {
  CONSTRAINT_FIELDS,
  CONSTRAINT_NAMES,
  type ConstraintName,
  type Constraints,
  NO_CONSTRAINTS,
  type Shortfall,
} from "@lattice/core";
import type { Job } from "../fit/job.ts";

/** A request with one constraint dropped. */
interface Relaxation {
  /** The field of the submission. */
  readonly field: string;
  readonly text: string;
  readonly constraints: Constraints;
}

/** Returns the request without each of its constraints, one at a time. */
export const relaxations = (constraints: Constraints): readonly Relaxation[] =>
  CONSTRAINT_NAMES.flatMap((name) =>
    RELAX[name](constraints).map((change) => relax(constraints, CONSTRAINT_FIELDS[name].name, change)),
  );

interface Change {
  readonly text: string;
  readonly changed?: Partial<Constraints>;
  /** A constraint that is left out where it does not apply. */
  readonly omitted?: "maxGroups";
}

function relax(constraints: Constraints, field: string, { text, changed, omitted }: Change): Relaxation {
  const relaxed: { -readonly [Name in ConstraintName]?: Constraints[Name] } = { ...constraints, ...changed };
  if (omitted !== undefined) delete relaxed[omitted];
  return { field, text, constraints: { ...NO_CONSTRAINTS, ...relaxed } };
}

/** For constraints that restrict nothing. */
const NEVER = (): readonly Change[] => [];

const RELAX: Record<ConstraintName, (constraints: Constraints) => readonly Change[]> = {
  gpuType: ({ gpuType }) =>
    gpuType === "" ? [] : [{ text: `any GPU instead of ${gpuType}`, changed: { gpuType: "" } }],
  gpuCount: ({ gpuCount }) =>
    gpuCount === 0 ? [] : [{ text: "nodes without GPUs as well", changed: { gpuType: "", gpuCount: 0 } }],
  memoryBytes: ({ memoryBytes }) =>
    memoryBytes === 0 ? [] : [{ text: "nodes with less memory as well", changed: { memoryBytes: 0 } }],
  cpuCores: ({ cpuCores }) =>
    cpuCores === 0 ? [] : [{ text: "nodes with fewer cores as well", changed: { cpuCores: 0 } }],
  features: ({ features }) =>
    features.map((feature) => ({
      text: `nodes without the feature ${feature} as well`,
      changed: { features: features.filter((other) => other !== feature) },
    })),
  topology: ({ topology }) =>
    topology === "any" ? [] : [{ text: "nodes in any groups instead of few", changed: { topology: "any" } }],
  requiredNodes: ({ requiredNodes }) =>
    requiredNodes.length === 0
      ? []
      : [{ text: "other nodes than those required by name", changed: { requiredNodes: [] } }],
  excludedNodes: ({ excludedNodes }) =>
    excludedNodes.length === 0 ? [] : [{ text: "the excluded nodes as well", changed: { excludedNodes: [] } }],
  requireConformance: ({ requireConformance }) =>
    requireConformance === true
      ? [{ text: "nodes of different fingerprints", changed: { requireConformance: false } }]
      : [],
  requireUnifiedMemory: ({ requireUnifiedMemory }) =>
    requireUnifiedMemory === true
      ? [{ text: "nodes without unified memory as well", changed: { requireUnifiedMemory: false } }]
      : [],
  preferSameNuma: NEVER,
  allowCxlMemory: NEVER,
  maxGroups: ({ maxGroups }) => {
    if (maxGroups === undefined) return [];
    return [{ text: `more than ${groupsText(maxGroups)}`, omitted: "maxGroups" }];
  },
  storageMBps: NEVER,
  memoryPolicy: NEVER,
};

/** The field of the submission, and the words for nodes that fall short of it. */
const SHORTFALLS = {
  excluded: { field: CONSTRAINT_FIELDS.excludedNodes.name, text: "excluded" },
  gpu_type: { field: CONSTRAINT_FIELDS.gpuType.name, text: "other GPU" },
  gpu_count: { field: CONSTRAINT_FIELDS.gpuCount.name, text: "too few GPUs" },
  memory: { field: CONSTRAINT_FIELDS.memoryBytes.name, text: "too little memory" },
  unified_memory: { field: CONSTRAINT_FIELDS.requireUnifiedMemory.name, text: "no unified memory" },
  cpu_cores: { field: CONSTRAINT_FIELDS.cpuCores.name, text: "too few cores" },
  feature: { field: CONSTRAINT_FIELDS.features.name, text: "lacking a feature" },
} as const satisfies Record<Shortfall["kind"], { readonly field: string; readonly text: string }>;

export const EXCLUDED = SHORTFALLS.excluded;

/** Names the missing feature: one may be mistyped among several. */
export const shortfallText = (shortfall: Shortfall): string =>
  shortfall.kind === "feature" ? `without the feature ${shortfall.wanted}` : SHORTFALLS[shortfall.kind].text;

export const shortfallField = (shortfall: Shortfall): string =>
  shortfall.kind === "feature" ? `${SHORTFALLS.feature.field} ${shortfall.wanted}` : SHORTFALLS[shortfall.kind].field;

const groupsText = (count: number): string => (count === 1 ? "one group" : `${count} groups`);

/** The words for free nodes that lie too far apart; `null` for a job that may span any number of groups. */
export const spreadText = ({ maxGroups }: Pick<Job, "maxGroups">): string | null =>
  Number.isFinite(maxGroups) ? `Its nodes are free, but spread over more than ${groupsText(maxGroups)}.` : null;

export const storageNeedText = ({ storageMBps = 0 }: Constraints, left: number): string =>
  `Needs ${storageMBps} MB/s of storage; ${left} MB/s are left until it would end.`;
