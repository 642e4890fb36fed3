// Score factors side by side, one row per allocation. Factors that are zero for all are left out.

import type { ScoreTerms } from "@lattice/sdk";
import type { Column } from "../../output/table.ts";
import { clean } from "../../output/text.ts";

export interface ScoreRow {
  readonly who: string;
  /** 0: none. */
  readonly place: number;
  readonly scores: ScoreTerms;
}

export function scoreColumns(rows: readonly ScoreRow[]): readonly Column<ScoreRow>[] {
  const factors = new Set<string>();
  for (const { scores } of rows)
    for (const [factor, milli] of Object.entries(scores)) if (milli !== 0 && factor !== "total") factors.add(factor);
  return [
    ...(rows.some(({ place }) => place > 0)
      ? [{ header: "PLACE", value: ({ place }: ScoreRow) => String(place) }]
      : []),
    { header: "ALLOCATION", value: ({ who }) => clean(who) },
    { header: "SCORE", align: "right", value: ({ scores }) => thousandths(scores.total) },
    ...[...factors].map(
      (factor): Column<ScoreRow> => ({
        header: clean(factor).toUpperCase(),
        align: "right",
        value: ({ scores }) => thousandths(scores[factor]),
      }),
    ),
  ];
}

const thousandths = (milli = 0): string => (milli / 1000).toFixed(3);
