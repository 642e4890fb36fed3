// Refuses YAML text that is nested too deep before a tree is made of it. The library builds the
// tree by calling itself, and near the end of the stack the platform may end the whole process
// instead of throwing. Its tokens are read in a loop, with a stack that can be looked at.

import { Lexer, Parser } from "yaml";
import { ProblemError } from "../errors/problem.ts";

/** On the reader's stack without being nested: the document, and the scalar that is being read. */
const OUTSIDE = 2;

export function refuseNested(text: string, maxDepth: number): void {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _token of parser.next(lexeme)) {
      // Only the stack is of interest; what is read whole has left it.
    }
    if (parser.stack.length > maxDepth + OUTSIDE) {
      throw new ProblemError("malformed_body", { detail: `the body is nested more than ${maxDepth} deep` });
    }
  }
}
