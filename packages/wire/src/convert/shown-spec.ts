// The specs of allocations as they are shown, of which the last that were shown are kept: who watches a queue reads the
// same page again and again, a spec never changes, and it is most of what is shown of an allocation. A kept message is
// frozen, since several answers share it.

import { type Allocation, type AllocationSpec, specToRun } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { keepText } from "../json/to-text.ts";
import { specToProto } from "./spec-to-proto.ts";

/** Ten pages of a list, twice. */
const KEPT = 1_000;
/** A larger task is not kept: a thousand of them would be a lot of memory. */
const MAX_TASK_LENGTH = 4_096;

let newer = new Map<AllocationSpec, proto.AllocationSpec>();
let older = new Map<AllocationSpec, proto.AllocationSpec>();

export function shownSpec(allocation: Allocation): proto.AllocationSpec {
  const { spec, element, group } = allocation;
  // An element's is put together each time it is asked for.
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
