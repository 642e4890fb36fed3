// Renders a problem for a terminal: detail, values, fields and hint. The CLI prints it to standard error.

import { ERRORS, type ErrorCode } from "./catalogue.ts";
import type { Problem } from "./problem.ts";

/** Codes whose usual hint says no more than the detail does. */
const WITHOUT_HINT: readonly ErrorCode[] = ["invalid_argument", "illegal_transition", "unsupported_feature"];

export function renderProblem(problem: Problem): string {
  const lines = [`Error: ${problem.detail === "" ? problem.title : problem.detail}`];
  for (const [name, value] of Object.entries(problem.values ?? {})) lines.push(`  ${capitalised(name)}: ${value}`);
  for (const { field, detail, hint } of problem.fields) {
    const line = `${field}: ${detail}`;
    // With a single field, the detail usually is its problem.
    if (!(problem.fields.length === 1 && problem.detail.includes(line))) lines.push(`  ${line}`);
    if (hint !== undefined && hint !== "" && hint !== problem.hint) lines.push(`    ${hint}`);
  }
  const vacuous = WITHOUT_HINT.includes(problem.code) && problem.hint === ERRORS[problem.code].hint;
  // Some details already contain the hint.
  if (problem.hint !== "" && !vacuous && !lines.some((line) => says(line, problem.hint)))
    lines.push(`Hint: ${problem.hint}`);
  return lines.join("\n");
}

const says = (line: string, hint: string): boolean => plain(line).includes(plain(hint));
const plain = (text: string): string => text.toLowerCase().replace(/[.\s]+$/, "");

const capitalised = (name: string): string => (name.charAt(0).toUpperCase() + name.slice(1)).replace(/_/g, " ");
