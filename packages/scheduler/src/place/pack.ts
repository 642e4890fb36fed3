// Step 3 for vClusters that pack: services want few nodes each and come and go all day, so they are put where
// most is gone already, and what is empty stays whole for those that need it whole. First the hardware with the
// least to spare over what is asked for, then the group with the fewest nodes left, until there are enough.
// How many groups that takes is no matter; where the request bounds them, the ordinary choice is made instead.

import type { Ask, Floor, Part, Supply } from "./ask.ts";

/** Only who does not care how its nodes lie, or whether they are alike, can be packed. */
export const canPack = ({ tight, maxGroups, alike, required }: Ask): boolean =>
  !tight && !alike && required === 0 && maxGroups === Number.POSITIVE_INFINITY;

/** `roomiest` by kind: the higher, the more is to spare. There are enough nodes. */
export function pack(floor: Floor, supply: Supply, ask: Ask, roomiest: Int32Array): readonly Part[] {
  const { groupOf, kindOf, drifted } = floor.cells;
  const left = new Int32Array(floor.groups.length);
  const cells: number[] = [];
  for (const cell of supply.cells) {
    const there = supply.counts[cell] as number;
    if (there === 0) continue;
    cells.push(cell);
    left[groupOf[cell] as number] = (left[groupOf[cell] as number] as number) + there;
  }
  const leftIn = (cell: number): number => left[groupOf[cell] as number] as number;
  const room = (cell: number): number => roomiest[kindOf[cell] as number] as number;
  cells.sort(
    (a, b) =>
      (drifted[a] as number) - (drifted[b] as number) ||
      room(a) - room(b) ||
      leftIn(a) - leftIn(b) ||
      (groupOf[a] as number) - (groupOf[b] as number) ||
      a - b,
  );
  const parts: Part[] = [];
  let missing = Math.min(ask.atMost, supply.total);
  for (const cell of cells) {
    if (missing === 0) break;
    const count = Math.min(missing, supply.counts[cell] as number);
    parts.push({ cell, count });
    missing -= count;
  }
  return parts;
}
