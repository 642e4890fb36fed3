// Parses YAML text into a plain value. Accepts only the core schema of YAML 1.2, one document, no custom tags and few
// aliases, so that a small text cannot expand into a large value.

import { Lexer, LineCounter, Parser, parseDocument, YAMLError } from "yaml";
import { ProblemError } from "../errors/problem.ts";
import type { Json } from "../json/value.ts";
import { refuseDeep } from "./depth.ts";
import { type BodyLimits, DEFAULT_BODY_LIMITS } from "./limits.ts";

/** Aliases in one document, counted with their copies; submissions hardly use any. */
const MAX_ALIASES = 100;

export function parseYamlText(text: string, limits: BodyLimits = DEFAULT_BODY_LIMITS): Json {
  const lineCounter = new LineCounter();
  try {
    refuseNested(text, limits.maxDepth);
    const document = parseDocument(text, {
      schema: "core",
      version: "1.2",
      lineCounter,
      prettyErrors: true,
      logLevel: "error",
    });
    const [error = document.warnings[0]] = document.errors;
    if (error !== undefined) throw error;
    const value = document.toJS({ maxAliasCount: MAX_ALIASES }) as Json;
    refuseDeep(value, limits.maxDepth);
    return value;
  } catch (cause) {
    if (cause instanceof ProblemError) throw cause;
    throw malformed(cause);
  }
}

function malformed(cause: unknown): ProblemError {
  const at = cause instanceof YAMLError ? cause.linePos?.[0] : undefined;
  const where = at === undefined ? "" : `line ${at.line}, column ${at.col}: `;
  return new ProblemError("malformed_body", {
    detail: `the body is not valid YAML: ${where}${messageOf(cause)}`,
    hint: "Check the indentation and quote strings that hold colons or braces.",
    cause,
  });
}

function messageOf(cause: unknown): string {
  if (cause instanceof RangeError || (cause instanceof Error && cause.message.includes("call stack")))
    return "it is nested too deep";
  if (cause instanceof ReferenceError) return "its aliases expand to too much, or refer to nothing";
  if (!(cause instanceof Error)) return "it cannot be read";
  // The library appends the position and the source line, which may be long.
  return (cause.message.split("\n", 1)[0] ?? "").replace(/ at line \d+, column \d+:?$/, "");
}

/** Entries of the reader's stack that are no nesting: the document, and the scalar being read. */
const OUTSIDE = 2;

function refuseNested(text: string, maxDepth: number): void {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _token of parser.next(lexeme)) {
      // Only the stack matters; completed values have left it.
    }
    if (parser.stack.length > maxDepth + OUTSIDE) {
      throw new ProblemError("malformed_body", { detail: `the body is nested more than ${maxDepth} deep` });
    }
  }
}
