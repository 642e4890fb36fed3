// Parses JSON text and reports the line and column of an error. The platform's parser does the work; the scanner below
// searches for the position only after a failure, because the platform's messages do not always have it.

import { ProblemError } from "../errors/problem.ts";
import type { Json } from "../json/value.ts";
import { refuseDeep } from "./depth.ts";
import { type BodyLimits, DEFAULT_BODY_LIMITS } from "./limits.ts";

export function parseJsonText(text: string, limits: BodyLimits = DEFAULT_BODY_LIMITS): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (cause) {
    const { offset, expected } = findFault(text);
    const { line, column } = positionAt(text, offset);
    const found = offset >= text.length ? "the end" : JSON.stringify([...text.slice(offset, offset + 2)][0] ?? "");
    throw new ProblemError("malformed_body", {
      detail: `the body is not valid JSON: line ${line}, column ${column}: expected ${expected}, found ${found}`,
      hint: hintFor(text, offset),
      cause,
    });
  }
  refuseDeep(value, limits.maxDepth);
  return value;
}

interface Fault {
  readonly offset: number;
  readonly expected: string;
}

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|true\b|false\b|null\b/y;

/** Walks the text with a stack of open brackets and checks each token against what the grammar allows next. */
export function findFault(text: string): Fault {
  const open: string[] = [];
  let at = 0;
  let want: "value" | "first" | "key" | "firstKey" | "colon" | "next" = "value";
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at += match[0].length;
    return match !== null;
  };
  for (;;) {
    skip(SPACE);
    const char = text[at];
    if (want === "next") {
      const inside = open.at(-1);
      if (inside === undefined) return { offset: at, expected: "the end" };
      if (char === inside) {
        open.pop();
        at += 1;
      } else if (char === ",") {
        want = inside === "}" ? "key" : "value";
        at += 1;
      } else return { offset: at, expected: `"," or "${inside}"` };
    } else if (want === "colon") {
      if (char !== ":") return { offset: at, expected: '":"' };
      at += 1;
      want = "value";
    } else if ((want === "firstKey" && char === "}") || (want === "first" && char === "]")) {
      open.pop();
      at += 1;
      want = "next";
    } else if (want === "key" || want === "firstKey") {
      if (!skip(STRING)) return { offset: at, expected: "a key in double quotes" };
      want = "colon";
    } else if (char === "{" || char === "[") {
      open.push(char === "{" ? "}" : "]");
      at += 1;
      want = char === "{" ? "firstKey" : "first";
    } else if (skip(STRING) || skip(SCALAR)) want = "next";
    else return { offset: at, expected: char === '"' ? "a well-formed string" : "a value" };
  }
}

function hintFor(text: string, offset: number): string {
  const char = text[offset] ?? "";
  if (char === "'") return "JSON strings stand in double quotes.";
  if ((char === "}" || char === "]") && text.slice(0, offset).trimEnd().endsWith(",")) {
    return "JSON allows no comma after the last item.";
  }
  if (/^[A-Za-z#-]/.test(text.trimStart())) {
    return 'For YAML, send "Content-Type: application/yaml"; otherwise send one JSON object.';
  }
  return "Send one JSON object.";
}

function positionAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf("\n");
  let line = 1;
  for (let at = before.indexOf("\n"); at >= 0; at = before.indexOf("\n", at + 1)) line += 1;
  return { line, column: offset - lastBreak };
}
