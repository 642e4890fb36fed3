// Renders tables with two spaces between columns. To fit the terminal, flexible columns are cut, widest first;
// then columns switch to their short form; then optional columns are dropped, last first. A table that still
// does not fit is stacked, one line per cell. Without a terminal nothing is cut, so scripts see every value.

import { clean, pad, padLeft, shorten, widthOf } from "./text.ts";

export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string;
  readonly align?: "right";
  /** The cell may be cut when the line does not fit. */
  readonly flexible?: boolean;
  /** A shorter value, and header, for lines that do not fit. */
  readonly short?: (row: Row) => string;
  readonly shortHeader?: string;
  /** The column may be dropped when short forms do not fit either. */
  readonly optional?: boolean;
  readonly paint?: (text: string, row: Row) => string;
}

const GAP = "  ";
/** A cut column is never narrower than this, to stay readable. */
const MIN_FLEXIBLE_WIDTH = 8;

export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], maxWidth?: number): string {
  for (const fewer of narrowerVariants(columns)) {
    const measured = measure(fewer, rows, maxWidth);
    if (maxWidth === undefined || totalOf(measured.widths) <= maxWidth) return renderLines(fewer, rows, measured);
  }
  if (rows.length > 0) return renderStacked(columns, rows, maxWidth ?? 0);
  return renderLines(columns, rows, measure(columns, rows, maxWidth));
}

/** Yields the columns as they are, in short form, then without one optional column after the other. */
function* narrowerVariants<Row>(columns: readonly Column<Row>[]): Generator<readonly Column<Row>[]> {
  yield columns;
  let left = columns.map((column) => {
    const { value, short = value, header, shortHeader = header } = column;
    return { ...column, value: short, header: shortHeader };
  });
  yield left;
  for (;;) {
    const last = left.findLastIndex(({ optional }) => optional === true);
    if (last < 0) return;
    left = left.toSpliced(last, 1);
    yield left;
  }
}

interface Measured {
  readonly cells: readonly (readonly string[])[];
  readonly widths: readonly number[];
}

function measure<Row>(columns: readonly Column<Row>[], rows: readonly Row[], maxWidth: number | undefined): Measured {
  const cells = rows.map((row) => columns.map((column) => clean(column.value(row))));
  const widths = columns.map((column, i) =>
    Math.max(widthOf(column.header), ...cells.map((line) => widthOf(line[i] ?? ""))),
  );
  if (maxWidth !== undefined) fitWidths(columns, widths, maxWidth);
  return { cells, widths };
}

function renderLines<Row>(columns: readonly Column<Row>[], rows: readonly Row[], { cells, widths }: Measured): string {
  const header = columns.map((column, i) => fitCell(column.header, widths[i] ?? 0, column.align));
  const lines = [header.join(GAP).trimEnd()];
  rows.forEach((row, r) => {
    const line = columns.map((column, i) => {
      const text = fitCell(cells[r]?.[i] ?? "", widths[i] ?? 0, column.align);
      return column.paint === undefined ? text : column.paint(text, row);
    });
    lines.push(line.join(GAP).trimEnd());
  });
  return `${lines.join("\n")}\n`;
}

/** Renders each row as `HEADER  value` lines, with an empty line between rows. */
function renderStacked<Row>(columns: readonly Column<Row>[], rows: readonly Row[], maxWidth: number): string {
  const label = Math.max(...columns.map(({ header }) => widthOf(header)));
  const width = Math.max(MIN_FLEXIBLE_WIDTH, maxWidth - label - GAP.length);
  const blocks = rows.map((row) =>
    columns
      .map((column) => {
        const text = shorten(clean(column.value(row)), width);
        return `${pad(column.header, label)}${GAP}${column.paint === undefined ? text : column.paint(text, row)}\n`;
      })
      .join(""),
  );
  return blocks.join("\n");
}

const totalOf = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);

const fitCell = (text: string, width: number, align: "right" | undefined): string =>
  align === "right" ? padLeft(shorten(text, width), width) : pad(shorten(text, width), width);

function fitWidths<Row>(columns: readonly Column<Row>[], widths: number[], maxWidth: number): void {
  while (totalOf(widths) > maxWidth) {
    let widest = -1;
    columns.forEach((column, i) => {
      const width = widths[i] ?? 0;
      if (column.flexible === true && width > MIN_FLEXIBLE_WIDTH && width > (widths[widest] ?? 0)) widest = i;
    });
    if (widest < 0) return;
    const excess = totalOf(widths) - maxWidth;
    const width = widths[widest] ?? 0;
    // Not below the next widest column, so that several long columns share the cut.
    const next = Math.max(
      MIN_FLEXIBLE_WIDTH,
      ...columns.map((column, i) =>
        i !== widest && column.flexible === true ? Math.min(widths[i] ?? 0, width - 1) : 0,
      ),
    );
    widths[widest] = Math.max(next, width - excess);
  }
}
