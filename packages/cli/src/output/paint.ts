// Terminal colours. A state has the same colour in every table.

const CODES = { red: 31, green: 32, yellow: 33, blue: 34, cyan: 36, dim: 2, bold: 1 } as const;
type Colour = keyof typeof CODES;

export type Paint = (colour: Colour, text: string) => string;

export const createPaint = (enabled: boolean): Paint =>
  enabled ? (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m` : (_colour, text) => text;

const STATE_COLOURS: Readonly<Record<string, Colour>> = {
  running: "green",
  completed: "dim",
  pending: "yellow",
  staging: "cyan",
  checkpointing: "cyan",
  suspended: "yellow",
  failed: "red",
  cancelled: "dim",
  ready: "green",
  degraded: "yellow",
  draining: "yellow",
  drained: "yellow",
  down: "red",
};

export const paintState = (paint: Paint, state: string, text: string): string => {
  const colour = STATE_COLOURS[state];
  return colour === undefined ? text : paint(colour, text);
};
