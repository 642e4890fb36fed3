// Draws a DAG in the terminal from left to right: each member once, its first dependent on the same line and the others
// below. A graph that is too wide becomes a list in dependency order.
//
//   preprocess [Completed] → train [Running] → evaluate [Pending]
//                                            ↘ notify-failure [Pending] (failure)

import type { DagMember } from "@lattice/sdk";
import { type Paint, paintState } from "../../output/paint.ts";
import { capitalise, clean, widthOf } from "../../output/text.ts";

export function drawGraph(members: readonly DagMember[], paint: Paint, width: number): readonly string[] {
  const drawing = drawRows(members, paint);
  return drawing.some((row) => row.width > width) ? drawList(members, paint) : drawing.map(({ text }) => text);
}

interface Row {
  readonly text: string;
  readonly width: number;
}

interface Piece {
  readonly member: DagMember;
  /** `null` for a member without dependencies. */
  readonly condition: string | null;
  /** Indentation in columns. */
  readonly at: number;
  readonly arrow: string;
}

function drawRows(members: readonly DagMember[], paint: Paint): readonly Row[] {
  const dependents = new Map<string, { readonly member: DagMember; readonly condition: string }[]>();
  for (const member of members) {
    for (const { ref = "", condition = "success" } of waitsFor(member)) {
      dependents.set(ref, [...(dependents.get(ref) ?? []), { member, condition }]);
    }
  }
  const rows: Row[] = [];
  const drawn = new Set<string>();
  const roots = members.filter((member) => waitsFor(member).length === 0);
  const stack: Piece[] = roots.map((member) => ({ member, condition: null, at: 0, arrow: "" })).reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    let text = " ".repeat(next.at);
    let columns = next.at;
    let piece: Piece | undefined = next;
    while (piece !== undefined) {
      const seen = drawn.has(piece.member.name);
      drawn.add(piece.member.name);
      const label = labelOf(piece, seen);
      text += piece.arrow + painted(piece, label, paint);
      columns += widthOf(piece.arrow) + widthOf(label);
      const at: number = columns;
      const behind: Piece[] = seen
        ? []
        : (dependents.get(piece.member.name) ?? []).map((edge, n) => ({ ...edge, at, arrow: n === 0 ? " → " : " ↘ " }));
      stack.push(...behind.slice(1).reverse());
      piece = behind[0];
    }
    rows.push({ text, width: columns });
  }
  return rows;
}

const waitsFor = ({ depends_on = [] }: DagMember) => depends_on.filter(({ condition }) => condition !== "mutex");

const nameOf = ({ name, group }: DagMember): string =>
  group === undefined ? clean(name) : `${clean(name)}×${group.size ?? 0}`;

/** A member that is drawn again shows only its name. */
function labelOf({ member, condition }: Piece, seen: boolean): string {
  const why = condition === null || condition === "success" ? "" : ` (${condition})`;
  return seen ? `${nameOf(member)}${why}` : `${nameOf(member)} [${capitalise(member.state)}]${why}`;
}

const painted = ({ member }: Piece, label: string, paint: Paint): string =>
  label.replace(`[${capitalise(member.state)}]`, (text) => paintState(paint, member.state, text));

function drawList(members: readonly DagMember[], paint: Paint): readonly string[] {
  return members.map((member) => {
    const edges = waitsFor(member).map(({ ref = "", condition = "success" }) =>
      condition === "success" ? clean(ref) : `${clean(ref)} (${condition})`,
    );
    const state = paintState(paint, member.state, `[${capitalise(member.state)}]`);
    return `${nameOf(member)} ${state}${edges.length === 0 ? "" : ` ← ${edges.join(", ")}`}`;
  });
}
