// A batch script made ready for Lattice. Slurm runs it on the first node alone and keeps the others for
// srun; Lattice runs it on every node. So one line is put below the interpreter's: on other nodes it
// stands by until the first is done. The same line sets the script's arguments, and the place where
// srun is found. Only shells understand it; a script of another kind runs on every node, with a warning.

import { Refusal } from "./refusal.ts";

export interface Preparation {
  readonly args: readonly string[];
  /** Where the launchers are, or undefined. */
  readonly bin: string | undefined;
  /** More than one node, or perhaps so. */
  readonly many: boolean;
}

export interface PreparedScript {
  readonly text: string;
  readonly warnings: readonly string[];
}

export function prepareScript(text: string, { args, bin, many }: Preparation): PreparedScript {
  const [first = "", ...rest] = text.split("\n");
  if (!first.startsWith("#!")) throw noInterpreter();
  const isShell = /\b(ba|da|k|z|a)?sh\b/.test(first);
  if (!isShell) {
    if (args.length > 0) {
      const by = first.slice(2).trim();
      throw new Refusal([`sbatch: error: arguments can be given to shell scripts only, and this one runs by "${by}"`]);
    }
    const warnings = many ? [`the script runs on every node, since "${first.slice(2).trim()}" is no shell`] : [];
    return { text, warnings };
  }
  const pieces = [
    ...(bin === undefined ? [] : [`PATH="$PATH":${quote(bin)}`]),
    ...(bin !== undefined && many ? [standBy(bin)] : []),
    ...(args.length === 0 ? [] : [`set -- ${args.map(quote).join(" ")}`]),
  ];
  const warnings =
    bin === undefined && many ? ["the script runs on every node: sbatch was not started by its launcher"] : [];
  if (pieces.length === 0) return { text, warnings };
  return { text: [first, pieces.join("; "), ...rest].join("\n"), warnings };
}

/** A node without the launchers runs the script as well: rather twice than not at all. */
function standBy(bin: string): string {
  const srun = quote(`${bin}/srun`);
  return `if [ -x ${srun} ]; then export LATTICE_SCRIPT_ONCE=1; [ "\${LATTICE_NODEID:-0}" = 0 ] || exec ${srun} --stand-by; fi`;
}

export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

const noInterpreter = (): Refusal =>
  new Refusal([
    "sbatch: error: This does not look like a batch script.  The first",
    "sbatch: error: line must start with #! followed by the path to an interpreter.",
    "sbatch: error: For instance: #!/bin/sh",
  ]);
