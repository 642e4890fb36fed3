// Chooses nodes for vClusters that pack: services want few nodes each and come and go all day, so they fill the groups
// that are used most, and empty groups stay whole for large requests. The hardware with the least spare capacity comes
// first, then the group with the fewest nodes left. The number of groups does not matter; a request that limits its
// groups is not packed.

import type { CellCount, ChoiceContext, NodeRequest, Supply } from "./node-request.ts";

/** Returns the cells to take; the supply suffices. `kindRanks`: by kind, higher has more capacity. */
export function pack(
  context: ChoiceContext,
  supply: Supply,
  { atMost }: NodeRequest,
  kindRanks: Int32Array,
): readonly CellCount[] {
  const { groupOf, kindOf, drifted } = context.cells;
  const leftInGroup = new Int32Array(context.groups.length);
  const cells: number[] = [];
  for (const cell of supply.cells) {
    const available = supply.counts[cell] as number;
    if (available === 0) continue;
    cells.push(cell);
    leftInGroup[groupOf[cell] as number] = (leftInGroup[groupOf[cell] as number] as number) + available;
  }
  const leftIn = (cell: number): number => leftInGroup[groupOf[cell] as number] as number;
  const rankOf = (cell: number): number => kindRanks[kindOf[cell] as number] as number;
  cells.sort(
    (a, b) =>
      (drifted[a] as number) - (drifted[b] as number) ||
      rankOf(a) - rankOf(b) ||
      leftIn(a) - leftIn(b) ||
      (groupOf[a] as number) - (groupOf[b] as number) ||
      a - b,
  );
  const picks: CellCount[] = [];
  let missing = Math.min(atMost, supply.total);
  for (const cell of cells) {
    if (missing === 0) break;
    const count = Math.min(missing, supply.counts[cell] as number);
    picks.push({ cell, count });
    missing -= count;
  }
  return picks;
}
