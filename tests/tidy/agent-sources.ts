// The code that runs in an agent, apart from the pieces of docs/decisions/0018, and what rules find in it.
import { lineOf } from "./bare-code.ts";
import { inPackages, type Source } from "./sources.ts";

/** The packages whose code runs in an agent. */
const AGENT = /^packages\/(?:agent|wire|core)\/src\//;
const PIECES = /^packages\/agent\/src\/(files\/[^/]+|base\/programs)\.ts$/;

export const rest: readonly Source[] = inPackages.filter(({ path }) => AGENT.test(path) && !PIECES.test(path));

export interface Found {
  readonly position: number;
  readonly text: string;
}

export const at = ({ path, text }: Source, found: Found): string =>
  `${path}:${lineOf(text, found.position)} ${found.text.replaceAll(/\s+/g, " ")}`;

export const found = (text: string, pattern: RegExp): readonly Found[] =>
  [...text.matchAll(pattern)].map((match) => ({ position: match.index, text: match[0] }));

export const hits = (source: Source, text: string, pattern: RegExp): readonly string[] =>
  found(text, pattern).map((one) => at(source, one));
