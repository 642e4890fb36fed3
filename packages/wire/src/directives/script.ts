// Parses the `#LATTICE` and `#SBATCH` lines of a script into a submission in short form. As in Slurm, a directive
// starts in the first column and only lines before the first command count. `#LATTICE` wins over `#SBATCH`; the
// caller's flags win over both (`mergeSubmissions`).

import { fieldError } from "../errors/field-list.ts";
import type { JsonObject } from "../json/value.ts";
import { mergeSubmissions } from "../normalise/merge.ts";
import { DirectiveProblems } from "./directive-problems.ts";
import { latticeTakesValue, readLatticeOptions } from "./lattice.ts";
import { type Option, optionsOf } from "./options.ts";
import { type SlurmMapping, slurmLongName, slurmTakesValue, submissionFromSlurm } from "./slurm.ts";

/** The same as the core's limit: a script is stored in the log and in every replica. */
export const MAX_SCRIPT_BYTES = 1024 * 1024;

export interface ParsedScript {
  /** Short form, with the whole text as `script`. */
  readonly submission: JsonObject;
  readonly warnings: string[];
  /** The script has #SBATCH lines: it expects SLURM_* variables. */
  readonly slurm: boolean;
  /** Effective Slurm options of the script and the command line, by long name. */
  readonly options: readonly Option[];
}

/**
 * `over`: Slurm flags of the command line; each overrides the directive of the same name.
 * Throws a ProblemError that names every directive that cannot be taken, or `script`.
 */
export function parseScript(text: string, mapping: SlurmMapping = {}, over: readonly Option[] = []): ParsedScript {
  checkScript(text);
  const { directives, late } = directivesOf(text);
  const problems = new DirectiveProblems();
  const { lattice, slurm: written } = optionsIn(directives, problems);
  const slurm = [...written, ...over];
  const fromSlurm = submissionFromSlurm(slurm, mapping, problems);
  const fromLattice = readLatticeOptions(lattice, problems);
  problems.throwIfAny();
  const below = mergeSubmissions(fromSlurm.submission, fromLattice);
  const merged =
    lattice.length === 0 ? below : mergeSubmissions(below, submissionFromSlurm(over, mapping, problems).submission);
  const usesSlurm = slurm.length > 0;
  return {
    submission: { ...merged, script: text, ...(usesSlurm ? { slurm_env: true } : {}) },
    warnings: [...fromSlurm.warnings, ...lateWarnings(late)],
    slurm: usesSlurm,
    options: slurm.map((option) => ({ ...option, name: slurmLongName(option.name) })),
  };
}

/** Refuses text that no interpreter can run. */
function checkScript(text: string): void {
  const refuse = (detail: string, hint: string) => fieldError([{ field: "script", detail, hint }]);
  if (text.trim() === "") throw refuse("is empty", "Put the commands to run into the script.");
  const nul = text.indexOf("\0");
  if (nul >= 0) {
    const line = text.slice(0, nul).split("\n").length;
    throw refuse(
      `contains a NUL byte in line ${line}`,
      "Scripts are text; is this a program? Run it after `--` instead.",
    );
  }
  if (text.length > MAX_SCRIPT_BYTES || new TextEncoder().encode(text).length > MAX_SCRIPT_BYTES) {
    throw refuse(`is larger than ${MAX_SCRIPT_BYTES} bytes`, "Put large input into a file on shared storage.");
  }
}

interface Directive {
  readonly line: number;
  readonly text: string;
  readonly kind: "LATTICE" | "SBATCH";
  readonly rest: string;
}

const DIRECTIVE = /^#(LATTICE|SBATCH)(?:[ \t]+(.*))?$/;

/** Directives before the first command, which count, and directives after it, which do not. */
function directivesOf(text: string): { directives: Directive[]; late: Directive[] } {
  const directives: Directive[] = [];
  const late: Directive[] = [];
  let commandSeen = false;
  let line = 0;
  for (const raw of linesOf(text)) {
    line += 1;
    const hasReturn = raw.endsWith("\r");
    const written = hasReturn ? raw.slice(0, -1) : raw;
    const match = DIRECTIVE.exec(written);
    if (hasReturn && (line === 1 || (match !== null && !commandSeen))) throw dosLineBreaks(line);
    if (match !== null) {
      const kind = match[1] === "SBATCH" ? "SBATCH" : "LATTICE";
      (commandSeen ? late : directives).push({ line, text: written, kind, rest: match[2] ?? "" });
    } else if (written.trim() !== "" && !written.trimStart().startsWith("#")) commandSeen = true;
  }
  return { directives, late };
}

function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    yield text.slice(at, end < 0 ? text.length : end);
    at = end < 0 ? text.length : end + 1;
  }
}

/** The kernel would look for an interpreter whose name ends in a carriage return. */
const dosLineBreaks = (line: number) =>
  fieldError([
    {
      field: "script",
      detail: `has DOS line breaks (line ${line})`,
      hint: "Convert it: sed -i 's/\\r$//' FILE",
    },
  ]);

function optionsIn(directives: readonly Directive[], problems: DirectiveProblems) {
  const lattice: Option[] = [];
  const slurm: Option[] = [];
  for (const { line, text, kind, rest } of directives) {
    const words = tokens(rest);
    if (words === null) problems.invalidLine(line, `has an open quote in "${text.slice(0, 100)}"`);
    else if (kind === "SBATCH") slurm.push(...optionsOf(words, slurmTakesValue, line));
    else lattice.push(...optionsOf(words, latticeTakesValue, line));
  }
  return { lattice, slurm };
}

/** A script that generates other scripts may contain many. */
const MAX_LATE_WARNINGS = 5;

function lateWarnings(late: readonly Directive[]): string[] {
  const warnings = late
    .slice(0, MAX_LATE_WARNINGS)
    .map(({ line, text }) => `line ${line}: ${text.slice(0, 100)} ignored (it is after the first command)`);
  const more = late.length - warnings.length;
  return more === 0 ? warnings : [...warnings, `${more} further directives after the first command ignored`];
}

/** Returns `null` for an unclosed quote. */
function tokens(line: string): string[] | null {
  const out: string[] = [];
  let word = "";
  let inWord = false;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const char = line[i] ?? "";
    if (quote !== "") {
      if (char === quote) quote = "";
      else if (char === "\\" && quote === '"' && i + 1 < line.length) word += line[++i] ?? "";
      else word += char;
    } else if (char === " " || char === "\t" || char === "\r") {
      if (inWord) out.push(word);
      word = "";
      inWord = false;
    } else if (char === "#" && !inWord) break;
    else {
      inWord = true;
      if (char === '"' || char === "'") quote = char;
      else if (char === "\\" && i + 1 < line.length) word += line[++i] ?? "";
      else word += char;
    }
  }
  if (quote !== "") return null;
  if (inWord) out.push(word);
  return out;
}
