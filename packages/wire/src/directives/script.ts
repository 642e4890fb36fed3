// A script with `#LATTICE` and `#SBATCH` lines as a submission in short form. As in Slurm, only lines
// before the first command count, and a directive starts in the first column. `#LATTICE` wins over
// `#SBATCH`; the caller's own flags win over both (`mergeSubmissions`).

import { fieldError } from "../errors/field-list.ts";
import type { JsonObject } from "../json/value.ts";
import { mergeSubmissions } from "../normalise/merge.ts";
import { latticeTakesValue, submissionFromOptions } from "./lattice.ts";
import { type Option, optionsOf } from "./options.ts";
import { type SlurmMapping, slurmTakesValue, submissionFromSlurm } from "./slurm.ts";
import { tokens } from "./tokens.ts";

/** As the core's limit: a script lives in the log and in every replica. */
export const MAX_SCRIPT_BYTES = 1024 * 1024;

export interface ParsedScript {
  /** Short form, with the whole text as `script`. */
  readonly submission: JsonObject;
  readonly warnings: string[];
  /** The script has #SBATCH lines: it expects SLURM_* variables. */
  readonly slurm: boolean;
}

/** Throws a ProblemError that names the option or `script`. */
export function parseScript(text: string, mapping: SlurmMapping = {}): ParsedScript {
  checkScript(text);
  const { lattice, slurm } = directivesOf(text);
  const fromSlurm = submissionFromSlurm(slurm, mapping);
  const merged = mergeSubmissions(fromSlurm.submission, submissionFromOptions(lattice));
  const usesSlurm = slurm.length > 0;
  return {
    submission: { ...merged, script: text, ...(usesSlurm ? { slurm_env: true } : {}) },
    warnings: fromSlurm.warnings,
    slurm: usesSlurm,
  };
}

/** Refuses what no interpreter could run. */
export function checkScript(text: string): void {
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

const DIRECTIVE = /^#(LATTICE|SBATCH)(?:[ \t]+(.*))?$/;

function directivesOf(text: string): { lattice: Option[]; slurm: Option[] } {
  const lattice: Option[] = [];
  const slurm: Option[] = [];
  for (const line of linesBeforeCommands(text)) {
    const match = DIRECTIVE.exec(line);
    if (match === null) continue;
    const words = tokens(match[2] ?? "");
    if (words === null) throw fieldError([{ field: "script", detail: `has an open quote in "${line.slice(0, 100)}"` }]);
    if (match[1] === "SBATCH") slurm.push(...optionsOf(words, slurmTakesValue));
    else lattice.push(...optionsOf(words, latticeTakesValue));
  }
  return { lattice, slurm };
}

function* linesBeforeCommands(text: string): Generator<string> {
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end).replace(/\r$/, "");
    if (line.trim() !== "" && !line.trimStart().startsWith("#")) return;
    yield line;
    if (end < 0) return;
    at = end + 1;
  }
}
