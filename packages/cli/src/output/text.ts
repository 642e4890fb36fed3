// Text as a terminal shows it: its width, cutting and padding. `clean` replaces control characters, so that
// a job's name cannot send escape sequences to the terminal.

export const ABSENT = "—";

export const clean = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd");

/** Returns a command line as one line; a long one is cut. */
export const oneLine = (text: string, longest = 200): string =>
  shorten(text.trim().replace(/\s*\n\s*/g, "; "), longest);

/** Returns the width in terminal columns; East Asian wide characters and emoji take two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfCharacter(character.codePointAt(0) ?? 0, character);
  return width;
}

function widthOfCharacter(code: number, character: string): number {
  if (code < 0x300) return 1;
  if (/\p{Mark}/u.test(character) || code === 0x200d) return 0;
  return WIDE_RANGES.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

const WIDE_RANGES: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
];

/** Cuts the text to `width` columns and ends a cut text with "…". */
export function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    used += widthOf(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

export const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)));

export const padLeft = (text: string, width: number): string => " ".repeat(Math.max(0, width - widthOf(text))) + text;

export const capitalise = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
