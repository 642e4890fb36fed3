// A batch script made ready for Lattice. Slurm runs it on the first node alone and keeps the others for
// srun; Lattice runs it on every node. So one line is put below the interpreter's: on other nodes it
// stands by until the first is done. The same line sets the script's arguments, and the place where
// srun is found, and who sends the signal that --signal asks for. Only shells understand it; a script of another kind runs
// on every node, with a warning.

import { Refusal } from "./refusal.ts";

export interface Preparation {
  readonly args: readonly string[];
  /** Where the launchers are, or undefined. */
  readonly bin: string | undefined;
  /** More than one node, or perhaps so. */
  readonly many: boolean;
  /** As --signal says it; undefined: none. */
  readonly signal?: string | undefined;
}

export interface PreparedScript {
  readonly text: string;
  readonly warnings: readonly string[];
  /** The signal of --signal will be sent. */
  readonly signals: boolean;
}

export function prepareScript(text: string, { args, bin, many, signal }: Preparation): PreparedScript {
  const [first = "", ...rest] = text.split("\n");
  if (!first.startsWith("#!")) throw noInterpreter();
  const isShell = /\b(ba|da|k|z|a)?sh\b/.test(first);
  if (!isShell) {
    if (args.length > 0) {
      const by = first.slice(2).trim();
      throw new Refusal([`sbatch: error: arguments can be given to shell scripts only, and this one runs by "${by}"`]);
    }
    const warnings = many ? [`the script runs on every node, since "${first.slice(2).trim()}" is no shell`] : [];
    return { text, warnings, signals: false };
  }
  const sender = signal === undefined ? null : signalSender(signal, bin);
  const pieces = [
    ...(bin === undefined ? [] : [`PATH="$PATH":${quote(bin)}`]),
    ...(bin !== undefined && many ? [standBy(bin)] : []),
    ...(args.length === 0 ? [] : [`set -- ${args.map(quote).join(" ")}`]),
    ...(sender === null ? [] : [sender]),
  ];
  const warnings =
    bin === undefined && many ? ["the script runs on every node: sbatch was not started by its launcher"] : [];
  const signals = sender !== null;
  if (pieces.length === 0) return { text, warnings, signals };
  return { text: [first, pieces.join("; "), ...rest].join("\n"), warnings, signals };
}

/** Slurm's, where no time is given. */
const SECONDS_BEFORE = 60;

/**
 * `[B:]SIGNAL[@SECONDS]`: a process waits until so long before the end of the job, and sends it: to the script (B), or to
 * its steps. It is no child of the script, which may wait for all of its own. Null: the signal cannot be sent.
 */
function signalSender(asked: string, bin: string | undefined): string | null {
  const match = /^(?:([BR]{1,2}):)?(?:SIG)?([A-Z0-9]{1,8})(?:@(\d{1,6}))?$/i.exec(asked);
  if (match === null) throw new Refusal(["sbatch: error: Invalid --signal specification"], 255);
  const [, who = "", name = "", seconds = `${SECONDS_BEFORE}`] = match;
  const own = who.toUpperCase().includes("B");
  if (!own && bin === undefined) return null;
  const send = own ? `kill -s ${name} $$` : `${quote(`${bin}/scancel`)} -s ${name} "$SLURM_JOB_ID"`;
  const wait = `s=$((SLURM_JOB_END_TIME - ${seconds} - $(date +%s))); [ $s -le 0 ] || sleep $s`;
  return `[ -z "$SLURM_JOB_END_TIME" ] || ( ( ${wait}; ${send} ) </dev/null >/dev/null 2>&1 & )`;
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
