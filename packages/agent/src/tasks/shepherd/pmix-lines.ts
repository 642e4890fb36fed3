// The lines of the PMIx helper, parsed. The helper runs as the job's user, who can put any program in its place: every
// line has a limit, and numbers and ranks are checked before anything acts on them. Pure.

import { MAX_NAMES_BYTES, MAX_NODE_FENCE_BYTES } from "../base/exchange-limits.ts";
import type { NameAct, PmiEntry } from "../base/name-types.ts";
import { boundedLine } from "./bounded-line.ts";

export type PmixMessage =
  | { readonly kind: "env"; readonly rank: number; readonly variables: Readonly<Record<string, string>> }
  | { readonly kind: "ready" }
  | { readonly kind: "connected" | "finalized" | "spawn"; readonly rank: number }
  | { readonly kind: "fence"; readonly number: number; readonly brought: string }
  | { readonly kind: "abort"; readonly rank: number; readonly code: number; readonly message: string }
  | {
      readonly kind: "names";
      readonly act: NameAct;
      readonly id: string;
      readonly waitSeconds: number;
      readonly entries: readonly PmiEntry[];
    }
  | { readonly kind: "failed"; readonly message: string };

interface OwnRanks {
  readonly firstRank: number;
  readonly tasks: number;
}

/** The words before the data of a fence. */
const LINE_HEAD = 64;
const MAX_LINE = MAX_NODE_FENCE_BYTES - 1024;
/** The environment of one rank. */
const MAX_ENVIRONMENT = 64 * 1024;
/** A value behind its publisher: namespace, rank and value, all but the rank in hexadecimal. */
const PUBLISHED = /^[0-9a-f]+\.\d{1,10}\.[0-9a-f]*$/;
/** Names of PMIx are in hexadecimal, and their values are for PMIx alone. */
export const PMIX_NAME = "pmix:";
const FAILED = 1;

/** Returns null for a line that no helper of ours writes. */
export function parsePmixLine(line: string, own: OwnRanks): PmixMessage | null {
  const space = line.indexOf(" ");
  const kind = space < 0 ? line : line.slice(0, space);
  const rest = space < 0 ? "" : line.slice(space + 1);
  switch (kind) {
    case "ready":
      return { kind };
    case "env":
      return variablesOf(rest, own);
    case "fence":
      return fenceOf(rest);
    case "connected":
    case "finalized":
    case "spawn": {
      const rank = rankOf(rest, own);
      return rank === null ? null : { kind, rank };
    }
    case "abort":
      return abortOf(rest, own);
    case "publish":
    case "lookup":
    case "unpublish":
      return namesOf(kind, rest);
    case "failed":
      return { kind, message: boundedLine(rest) };
    default:
      return null;
  }
}

function rankOf(text: string, { firstRank, tasks }: OwnRanks): number | null {
  const rank = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  return rank >= firstRank && rank < firstRank + tasks ? rank : null;
}

function variablesOf(text: string, own: OwnRanks): PmixMessage | null {
  if (text.length > MAX_ENVIRONMENT || text.includes("\0")) return null;
  const [first = "", ...pairs] = text.split("\t");
  const rank = rankOf(first, own);
  if (rank === null) return null;
  const variables: [string, string][] = [];
  for (const pair of pairs) {
    if (pair === "") continue;
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined) return null;
    variables.push([name, value]);
  }
  return { kind: "env", rank, variables: Object.fromEntries(variables) };
}

function fenceOf(text: string): PmixMessage | null {
  const space = text.indexOf(" ");
  const [number, brought] = space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)];
  return /^\d{1,9}$/.test(number) && isHex(brought) ? { kind: "fence", number: Number(number), brought } : null;
}

function abortOf(text: string, own: OwnRanks): PmixMessage | null {
  const [first = "", status = "", ...words] = text.slice(0, MAX_ENVIRONMENT).split(" ");
  const rank = rankOf(first, own);
  if (rank === null) return null;
  const code = /^-?\d{1,9}$/.test(status) ? Number(status) : FAILED;
  return { kind: "abort", rank, code, message: boundedLine(words.join(" ")) };
}

function namesOf(act: NameAct, text: string): PmixMessage | null {
  if (text.length > MAX_NAMES_BYTES) return null;
  const [id = "", seconds = "", ...words] = text.split(" ");
  if (!/^\w{1,32}$/.test(id) || !/^-?\d{1,9}$/.test(seconds)) return null;
  const step = act === "publish" ? 2 : 1;
  if (!words.every((word, at) => (at % step === 0 ? isHex(word) : PUBLISHED.test(word)))) return null;
  const keys = words.filter((_, at) => at % step === 0);
  const entries = keys.map((key, at) => [`${PMIX_NAME}${key}`, step === 1 ? "" : (words[2 * at + 1] ?? "")] as const);
  return { kind: "names", act, id, waitSeconds: Math.max(0, Number(seconds)), entries };
}

const isHex = (text: string): boolean => /^[0-9a-f]*$/.test(text);

/** Cuts bytes into lines of latin-1. Returns null from the first line on that is too long. */
export function lineCutter(): (bytes: Buffer) => readonly string[] | null {
  let parts: Buffer[] = [];
  let length = 0;
  let isOver = false;
  return (bytes) => {
    if (isOver) return null;
    const lines: string[] = [];
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      if (length + end - from > MAX_LINE + LINE_HEAD) break;
      const rest = bytes.subarray(from, end);
      lines.push((parts.length === 0 ? rest : Buffer.concat([...parts, rest])).toString("latin1"));
      parts = [];
      length = 0;
      from = end + 1;
    }
    parts.push(bytes.subarray(from));
    length += bytes.length - from;
    isOver = length > MAX_LINE + LINE_HEAD;
    if (!isOver) return lines;
    parts = [];
    return null;
  };
}

const NEWLINE = 10;
