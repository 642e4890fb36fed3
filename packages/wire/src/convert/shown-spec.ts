// Caches the converted specs of recently shown allocations. Clients that watch a queue read the same page repeatedly, a
// spec never changes, and it is most of an allocation's message. Cached messages are frozen, because several responses
// share them.

import { type Allocation, type AllocationSpec, specToRun } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { keepText } from "../json/to-text.ts";
import { specToProto } from "./spec-to-proto.ts";

/** Two users with ten pages of a list each. */
const KEPT = 1_000;
/** Larger tasks are not cached, to bound the memory. */
const MAX_TASK_LENGTH = 4_096;

let newer = new Map<AllocationSpec, proto.AllocationSpec>();
let older = new Map<AllocationSpec, proto.AllocationSpec>();

export function shownSpec(allocation: Allocation): proto.AllocationSpec {
  const { spec, element, group } = allocation;
  // The spec of an element is built on each read, so a cached one would never be found again.
  if (element !== undefined || group !== undefined || isLarge(spec)) return specToProto(specToRun(allocation), group);
  const known = newer.get(spec);
  if (known !== undefined) return known;
  const shown = older.get(spec) ?? kept(specToProto(spec));
  if (newer.size >= KEPT) {
    older = newer;
    newer = new Map();
  }
  newer.set(spec, shown);
  return shown;
}

function kept(message: proto.AllocationSpec): proto.AllocationSpec {
  keepText(message);
  return Object.freeze(message);
}

function isLarge({ task, environment }: AllocationSpec): boolean {
  const words = task.kind === "command" ? task.words : [task.kind === "script" ? task.text : task.line];
  let length = 0;
  for (const word of words) length += word.length;
  for (const name in environment.variables) length += name.length + (environment.variables[name]?.length ?? 0);
  return length > MAX_TASK_LENGTH;
}
