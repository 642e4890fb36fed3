// Turns a command's failure into text and an exit status. Usage errors and problems of the server and the
// network have one form; any other error is a defect, with a stack trace under --verbose.

import { ERRORS, type Problem, ProblemError, problem, renderProblem } from "@lattice/wire";
import { CommanderError } from "commander";

/** Prints the error and returns the exit status. `path` is the called command and its parents, for the hint. */
export function reportError(error: unknown, argv: readonly string[], path: readonly string[] = []): number {
  const what = problemFrom(error, path);
  process.stderr.write(wantsJson(argv) ? `${JSON.stringify(what)}\n` : `${renderProblem(what)}\n`);
  const isDefect = !(error instanceof ProblemError) && !(error instanceof CommanderError);
  if (isDefect && error instanceof Error && argv.some((arg) => arg === "-v" || arg === "--verbose")) {
    process.stderr.write(`${error.stack ?? ""}\n`);
  }
  return ERRORS[what.code].exit;
}

function problemFrom(error: unknown, path: readonly string[] = []): Problem {
  if (error instanceof ProblemError)
    return error.problem.code === "unauthenticated" ? login(error.problem) : error.problem;
  if (error instanceof CommanderError) return usageProblem(error, path);
  const detail = error instanceof Error ? error.message : String(error);
  return problem("internal", {
    detail,
    hint: "This is a bug in lattice. Run again with --verbose and report the output.",
  });
}

/** Replaces the hint for programs by the command that a person needs. */
const login = (what: Problem): Problem =>
  what.hint === ERRORS.unauthenticated.hint
    ? { ...what, detail: `Not logged in. ${what.detail}`.trimEnd(), hint: "Run `lattice login` first." }
    : what;

/** Parses commander's "error: unknown command 'stats'\n(Did you mean status?)". */
function usageProblem(error: CommanderError, path: readonly string[]): Problem {
  const [first = "", ...rest] = error.message.split("\n");
  const suggestion = rest
    .join(" ")
    .trim()
    .replace(/^\(|\)$/g, "");
  const help = `Run: ${["lattice", ...path, "--help"].join(" ")}`;
  return problem("invalid_argument", {
    detail: first.replace(/^error: /, ""),
    hint: suggestion === "" ? help : suggestion,
  });
}

/** Reads the raw arguments, because the flags may be what could not be parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  return own.some(
    (arg, i) =>
      arg === "-ojson" || arg === "--output=json" || ((arg === "-o" || arg === "--output") && own[i + 1] === "json"),
  );
}
