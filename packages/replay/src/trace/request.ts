// The request of a job in a JSON-lines trace beyond nodes and time. The lattice policy passes it to the real scheduler;
// the classic policies ignore it.

import {
  CONSTRAINT_FIELDS,
  CONSTRAINT_NAMES,
  type ConstraintName,
  type Constraints,
  NO_CONSTRAINTS,
  type NodeId,
  parseNodeId,
} from "@lattice/core";
import type { Bad, TraceObject } from "./record.ts";

export interface JobRequest {
  /** `null` for the default vCluster. */
  readonly vcluster: string | null;
  readonly constraints: Constraints;
  /** The maximum of a range of nodes; `null` for exactly the job's size. */
  readonly maxNodes: number | null;
  /** Never preempted. */
  readonly noPreempt: boolean;
}

/** Returns `null` when the job has no special request. */
export function parseRequest(alloc: TraceObject, bad: Bad): JobRequest | null {
  const maxNodes = rangeOf(alloc.nodes);
  if (maxNodes === null && FIELDS.every((field) => alloc[field] === undefined)) return null;
  const read = fieldsOf(alloc, bad);
  const given: Record<string, unknown> = {};
  for (const name of CONSTRAINT_NAMES) readConstraint(given, name, read);
  return {
    vcluster: alloc.vcluster === undefined ? null : read.text("vcluster"),
    constraints: { ...NO_CONSTRAINTS, ...(given satisfies Partial<Record<ConstraintName, unknown>>) },
    maxNodes,
    noPreempt: read.flag("no_preempt"),
  };
}

const FIELDS = ["vcluster", "no_preempt", ...CONSTRAINT_NAMES.map((name) => CONSTRAINT_FIELDS[name].name)];

/** Sets the constraint if the job has it; the others keep their default. */
function readConstraint(given: Record<string, unknown>, name: ConstraintName, read: Fields): void {
  const { name: field, kind } = CONSTRAINT_FIELDS[name];
  if (kind === "memory_policy") return;
  const value = READERS[kind](read, field);
  if (value !== 0 && value !== false) given[name] = value;
}

const READERS = {
  text: (read, field) => read.text(field),
  least: (read, field) => Math.floor(read.amount(field)),
  most: (read, field) => Math.floor(read.amount(field)),
  gigabytes: (read, field) => Math.round(read.amount(field) * 2 ** 30),
  list: (read, field) => read.list(field),
  nodes: (read, field) => read.nodes(field),
  flag: (read, field) => read.flag(field),
  topology: (read) => read.topology(),
} as const satisfies Record<string, (read: Fields, field: string) => unknown>;

type Fields = ReturnType<typeof fieldsOf>;

/** The maximum of `{"min": 2, "max": 8}`; its shape was checked with the job's size. */
const rangeOf = (nodes: unknown): number | null =>
  typeof nodes === "object" && nodes !== null && "max" in nodes ? (nodes.max as number) : null;

/** Readers by kind of value; an absent field has its default. */
function fieldsOf(alloc: TraceObject, bad: Bad) {
  const list = (field: string): readonly string[] => {
    const value = alloc[field] ?? [];
    if (Array.isArray(value) && value.every((entry) => typeof entry === "string")) return value;
    throw bad(`the field "alloc.${field}" must be a list of texts`);
  };
  return {
    list,
    text(field: string): string {
      const value = alloc[field] ?? "";
      if (typeof value === "string") return value;
      throw bad(`the field "alloc.${field}" must be a text`);
    },
    amount(field: string): number {
      const value = alloc[field] ?? 0;
      if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
      throw bad(`the field "alloc.${field}" must be a number from 0`);
    },
    flag(field: string): boolean {
      const value = alloc[field] ?? false;
      if (typeof value === "boolean") return value;
      throw bad(`the field "alloc.${field}" must be true or false`);
    },
    topology(): Constraints["topology"] {
      const value = alloc.topology ?? "any";
      if (value === "any" || value === "tight") return value;
      throw bad('the field "alloc.topology" must be "any" or "tight"');
    },
    nodes(field: string): readonly NodeId[] {
      const value = alloc[field] ?? [];
      const ids = Array.isArray(value)
        ? value.map((entry) => (typeof entry === "string" ? parseNodeId(entry) : null))
        : [null];
      const good = ids.filter((id) => id !== null);
      if (good.length === ids.length) return good;
      throw bad(`the field "alloc.${field}" must be a list of nodes`);
    },
  };
}
