// The columns of the DAG table and the member table.

import type { Dag, DagMember } from "@lattice/sdk";
import { type Paint, paintState } from "../../output/paint.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT, capitalise } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";
import { groupText } from "../status/group.ts";

export const dagColumns = (paint: Paint): readonly Column<Dag>[] => [
  { header: "ID", value: ({ id }) => id },
  { header: "NAME", value: ({ name }) => name || ABSENT, flexible: true },
  {
    header: "STATE",
    value: ({ state }) => capitalise(state),
    paint: (text, { state }) => paintState(paint, state, text),
  },
  { header: "ENDED", value: ({ ended = 0, size = 0 }) => `${ended}/${size}` },
  { header: "USER", value: ({ user }) => user ?? "" },
  { header: "SUBMITTED", value: ({ submitted_at }) => localTime(submitted_at) },
];

export const memberColumns = (paint: Paint): readonly Column<DagMember>[] => [
  { header: "NAME", value: ({ name }) => name, flexible: true },
  { header: "ID", value: ({ allocation_id }) => allocation_id },
  {
    header: "STATE",
    value: ({ state }) => capitalise(state),
    paint: (text, { state }) => paintState(paint, state, text),
  },
  { header: "AFTER", value: afterText, flexible: true },
  { header: "REASON", value: reasonText },
];

/** Adds the element counts of a group, because elements may have ended differently from the group. */
function reasonText({ reason = "", group }: DagMember): string {
  const elements = group === undefined ? "" : groupText(group);
  if (reason === "" || elements === "") return reason || elements || ABSENT;
  return `${reason}: ${elements}`;
}

/** Returns "preprocess:success, lock:mutex". */
const afterText = ({ depends_on = [] }: DagMember): string =>
  depends_on.map(({ ref, condition = "success" }) => `${ref}:${condition}`).join(", ") || ABSENT;
