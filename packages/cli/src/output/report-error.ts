// Turns a command's failure into text and an exit status. Usage errors and problems of the server and the
// network have one form; any other error is a defect, with a stack trace under --verbose.

import { ERRORS, nearest, type Problem, ProblemError, problem, renderProblem } from "@lattice/wire";
import { CommanderError } from "commander";
import { meantCommand, meantFlag } from "./meant.ts";

/** The called command, for hints. */
interface Called {
  /** The command and its parents. */
  readonly path: readonly string[];
  /** The long flags that it takes. */
  readonly flags: readonly string[];
}

/** Prints the error and returns the exit status. */
export function reportError(error: unknown, argv: readonly string[], called: Called = { path: [], flags: [] }): number {
  const what = problemFrom(error, called);
  process.stderr.write(wantsJson(argv) ? `${JSON.stringify(what)}\n` : `${renderProblem(what)}\n`);
  const isDefect = !(error instanceof ProblemError) && !(error instanceof CommanderError);
  if (isDefect && error instanceof Error && argv.some((arg) => arg === "-v" || arg === "--verbose")) {
    process.stderr.write(`${error.stack ?? ""}\n`);
  }
  return ERRORS[what.code].exit;
}

function problemFrom(error: unknown, called: Called): Problem {
  if (error instanceof ProblemError)
    return error.problem.code === "unauthenticated" ? login(error.problem) : error.problem;
  if (error instanceof CommanderError) return usageProblem(error, called);
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
function usageProblem(error: CommanderError, called: Called): Problem {
  const [first = "", ...rest] = error.message.split("\n");
  const suggestion = rest
    .join(" ")
    .trim()
    .replace(/^\(|\)$/g, "");
  const help = `Run: ${["lattice", ...called.path, "--help"].join(" ")}`;
  const detail = first.replace(/^error: /, "");
  return problem("invalid_argument", {
    detail: withoutFullStop(detail),
    hint: meant(detail, called) ?? (suggestion === "" ? (nearFlag(detail, called.flags) ?? help) : suggestion),
  });
}

const withoutFullStop = (text: string): string => text.replace(/\.$/, "");

/** Returns the hint for a word of another system. */
function meant(detail: string, { path }: Called): string | null {
  const word = /^unknown command '([^']*)'/.exec(detail)?.[1];
  if (word !== undefined) return path.length === 0 ? meantCommand(word) : null;
  const flag = unknownFlag(detail);
  if (flag !== null) return meantFlag(flag, path);
  const file = /^option '-o, --output <format>' argument '([^']*)' is invalid/.exec(detail)?.[1];
  if (file === undefined || !["submit", "plan"].includes(path[0] ?? "")) return null;
  return `--output is the format of the answer. To write the output of the job to a file: --output-file=${file}`;
}

/** Commander compares the flag together with its value. */
function nearFlag(detail: string, flags: readonly string[]): string | null {
  const flag = unknownFlag(detail);
  const close = flag?.startsWith("--")
    ? nearest(
        flag.slice(2),
        flags.map((long) => long.slice(2)),
      )
    : null;
  return close === null ? null : `Did you mean --${close}?`;
}

const unknownFlag = (detail: string): string | null => /^unknown option '(--?[^'=]+)/.exec(detail)?.[1] ?? null;

/** Reads the raw arguments, because the flags may be what could not be parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  return own.some(
    (arg, i) =>
      arg === "-ojson" || arg === "--output=json" || ((arg === "-o" || arg === "--output") && own[i + 1] === "json"),
  );
}
