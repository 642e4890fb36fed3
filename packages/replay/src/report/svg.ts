// Charts as SVG text for a self-contained page: a frame with axes, and lines, bars or points. Coordinates are rounded,
// so that equal figures give equal bytes.

export interface ChartFrame {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** The top of the y axis, which starts at 0. */
  readonly yMax: number;
  readonly yText: (value: number) => string;
}

const WIDTH = 720;
const HEIGHT = 260;
const LEFT = 64;
const RIGHT = 12;
const TOP = 30;
const BOTTOM = 44;
const INNER_WIDTH = WIDTH - LEFT - RIGHT;
const INNER_HEIGHT = HEIGHT - TOP - BOTTOM;

/** Distinguishable with colour blindness. */
const COLOURS = ["#0b6fa4", "#d1603d", "#3c8d40", "#8a4fa3", "#b08900", "#5a6570"] as const;

const colour = (i: number): string => COLOURS[i % COLOURS.length] ?? COLOURS[0];

export function chart(frame: ChartFrame, body: string, legend: readonly string[] = []): string {
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const y = yOf(frame, frame.yMax * part);
    const text = escapeXml(frame.yText(frame.yMax * part));
    const line = `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}" class="grid"/>`;
    return `${line}<text x="${LEFT - 6}" y="${y + 4}" text-anchor="end">${text}</text>`;
  });
  const keys = legend.map((name, i) => {
    const x = LEFT + i * Math.min(170, INNER_WIDTH / legend.length);
    const box = `<rect x="${px(x)}" y="${HEIGHT - 12}" width="9" height="9" fill="${colour(i)}"/>`;
    return `${box}<text x="${px(x + 13)}" y="${HEIGHT - 4}">${escapeXml(name)}</text>`;
  });
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeXml(frame.title)}">`,
    `<text x="${LEFT}" y="16" class="title">${escapeXml(frame.title)}</text>`,
    `<text x="${WIDTH - RIGHT}" y="16" text-anchor="end">${escapeXml(frame.yLabel)}</text>`,
    ...marks,
    body,
    `<text x="${WIDTH - RIGHT}" y="${HEIGHT - BOTTOM + 28}" text-anchor="end">${escapeXml(frame.xLabel)}</text>`,
    ...keys,
    "</svg>",
  ].join("\n");
}

/** Values at equal distances, from the left edge to the right. */
export function line(frame: ChartFrame, values: readonly number[], i: number): string {
  const points = values.map((value, at) => `${xOf(at / Math.max(1, values.length - 1))},${yOf(frame, value)}`);
  return `<polyline points="${points.join(" ")}" fill="none" stroke="${colour(i)}" stroke-width="1.3"/>`;
}

interface Bars {
  readonly label: string;
  readonly values: readonly number[];
}

/** Groups of adjacent bars with a label below each group. */
export function bars(frame: ChartFrame, groups: readonly Bars[]): string {
  const step = INNER_WIDTH / Math.max(1, groups.length);
  return groups
    .map(({ label, values }, at) => {
      const left = LEFT + at * step;
      const width = (step * 0.8) / Math.max(1, values.length);
      const drawn = values.map((value, i) => {
        const y = yOf(frame, value);
        const height = px(TOP + INNER_HEIGHT - y);
        const hint = `<title>${escapeXml(`${label}: ${frame.yText(value)}`)}</title>`;
        const x = px(left + step * 0.1 + i * width);
        return `<rect x="${x}" y="${y}" width="${px(width)}" height="${height}" fill="${colour(i)}">${hint}</rect>`;
      });
      const middle = px(left + step / 2);
      const text = `<text x="${middle}" y="${HEIGHT - BOTTOM + 14}" text-anchor="middle">${escapeXml(label)}</text>`;
      return drawn.join("") + text;
    })
    .join("\n");
}

export interface Point {
  /** From 0 to 1, left to right. */
  readonly x: number;
  readonly y: number;
  readonly hint: string;
  readonly colour: number;
}

export const points = (frame: ChartFrame, all: readonly Point[]): string =>
  all
    .map(({ x, y, hint, colour: i }) => {
      const place = `cx="${xOf(x)}" cy="${yOf(frame, y)}"`;
      return `<circle ${place} r="4" fill="${colour(i)}"><title>${escapeXml(hint)}</title></circle>`;
    })
    .join("\n");

const px = (value: number): number => Number(value.toFixed(1));

const xOf = (part: number): number => px(LEFT + part * INNER_WIDTH);

const yOf = ({ yMax }: ChartFrame, value: number): number =>
  px(TOP + INNER_HEIGHT * (1 - Math.min(1, yMax > 0 ? value / yMax : 0)));

export const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
