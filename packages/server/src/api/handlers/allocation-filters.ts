// Parses the filters of a list request: tags, time bounds, pending reasons.

import { type pb, timestampToMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import type { Call } from "../call/call.ts";
import type { AllocationQuery, Tag } from "./allocation-list.ts";
import { isGroup, type Work } from "./work.ts";

/** More than an allocation may have. */
const MAX_TAG_FILTERS = 64;

type Filters = Pick<AllocationQuery, "node" | "name" | "project" | "tags" | "sinceMs" | "untilMs" | "group">;

export function filtersOf(request: pb.ListAllocationsRequest): Filters {
  const { node, name, project, groupId, since, until } = request;
  if (request.tag.length > MAX_TAG_FILTERS) throw invalid("tag", `is given more than ${MAX_TAG_FILTERS} times`);
  const sinceMs = since === undefined ? null : timestampToMs(since);
  const untilMs = until === undefined ? null : timestampToMs(until);
  if (sinceMs !== null && untilMs !== null && untilMs <= sinceMs) throw invalid("until", "must be after since");
  return {
    ...(node === "" ? {} : { node }),
    ...(name === "" ? {} : { name }),
    ...(project === "" ? {} : { project }),
    ...(groupId === "" ? {} : { group: groupId }),
    ...(request.tag.length === 0 ? {} : { tags: request.tag.map(tagOf) }),
    ...(sinceMs === null ? {} : { sinceMs }),
    ...(untilMs === null ? {} : { untilMs }),
  };
}

function tagOf(text: string): Tag {
  const at = text.indexOf("=");
  if (at === 0 || text === "") throw invalid("tag", "has no key", "Write key=value, or the key alone.");
  return at < 0 ? { key: text, value: null } : { key: text.slice(0, at), value: text.slice(at + 1) };
}

/** Whether the work is pending for one of these reasons. Always true without reasons. */
export function waitsFor(call: Call, work: Work, codes: readonly string[]): boolean {
  if (codes.length === 0) return true;
  if (isGroup(work) || work.phase.kind !== "pending") return false;
  return call.plane.knownReasons(work.id).some(({ code }) => codes.includes(code));
}
