// Adapts a batch script to Lattice. Slurm runs a script on the first node only and keeps the others for srun; Lattice
// runs it on every node. So one shell line is inserted below the interpreter line: on all other nodes it waits until
// the first node is done. The line also sets the script's arguments, puts our srun first on the PATH, before a real
// Slurm's, and starts the sender of --signal. A script of another interpreter is
// started by such a shell script where it needs any of this.

import { SlurmError } from "./slurm-error.ts";

interface ScriptOptions {
  readonly args: readonly string[];
  /** Directory of the Slurm launchers; `undefined` when sbatch was started without one. */
  readonly bin: string | undefined;
  /** The job may have more than one node. */
  readonly many: boolean;
  /** The value of --signal. */
  readonly signal?: string | undefined;
}

interface PreparedScript {
  readonly text: string;
  readonly warnings: readonly string[];
  /** The script sends the signal of --signal. */
  readonly signals: boolean;
}

export function prepareScript(text: string, { args, bin, many, signal }: ScriptOptions): PreparedScript {
  const [first = "", ...rest] = text.split("\n");
  if (!first.startsWith("#!")) throw noInterpreter();
  const isShell = /\b(ba|da|k|z|a)?sh\b/.test(first);
  const isPlain = !many && args.length === 0 && signal === undefined;
  if (!isShell && isPlain) return { text, warnings: [], signals: false };
  const sender = signal === undefined ? null : signalSender(signal, bin);
  const pieces = [
    ...(bin === undefined ? [] : [`PATH=${quote(bin)}:"$PATH"`]),
    ...(bin !== undefined && many ? [waitForFirstNode(bin)] : []),
    ...(args.length === 0 ? [] : [`set -- ${args.map(quote).join(" ")}`]),
    ...(sender === null ? [] : [sender]),
  ];
  const warnings =
    bin === undefined && many ? ["the script runs on every node, because sbatch was not started by its launcher"] : [];
  const signals = sender !== null;
  if (!isShell) return { text: ["#!/bin/sh", pieces.join("; "), ...runner(text)].join("\n"), warnings, signals };
  if (pieces.length === 0) return { text, warnings, signals };
  return { text: [first, pieces.join("; "), ...rest].join("\n"), warnings, signals };
}

/**
 * Returns the lines that write a script of another interpreter to a file and become that interpreter. The attempt's
 * folder is removed with the attempt.
 */
function runner(text: string): readonly string[] {
  const [, interpreter = "", option = ""] = /^#!\s*(\S+)[ \t]*(.*?)\s*$/.exec(text.split("\n", 1)[0] ?? "") ?? [];
  let mark = "LATTICE_SCRIPT";
  while (text.split("\n").includes(mark)) mark += "_";
  const words = [interpreter, ...(option === "" ? [] : [option])].map(quote).join(" ");
  return [
    `d=\${LATTICE_ATTEMPT_DIR:-}; [ -w "$d" ] || d=\${TMPDIR:-/tmp}`,
    'f=$(mktemp "$d/slurm_script.XXXXXX") || exit 1',
    `cat > "$f" <<'${mark}'`,
    ...text.replace(/\n$/, "").split("\n"),
    mark,
    'chmod 0700 "$f"',
    `exec ${words} "$f" "$@"`,
    "",
  ];
}

/** Slurm's default for --signal without a time. */
const SECONDS_BEFORE = 60;

/**
 * Returns the shell text for `[B:]SIGNAL[@SECONDS]`: a process that sleeps until SECONDS before the end of the job and
 * signals the script (B) or its steps. It is not a child of the script, whose `wait` would block on it. Returns null
 * when the signal cannot be sent.
 */
function signalSender(option: string, bin: string | undefined): string | null {
  const match = /^(?:([BR]{1,2}):)?(?:SIG)?([A-Z0-9]{1,8})(?:@(\d{1,6}))?$/i.exec(option);
  if (match === null) throw new SlurmError(["sbatch: error: Invalid --signal specification"], 255);
  const [, who = "", name = "", seconds = `${SECONDS_BEFORE}`] = match;
  const own = who.toUpperCase().includes("B");
  if (!own && bin === undefined) return null;
  const send = own ? `kill -s ${name} $$` : `${quote(`${bin}/scancel`)} -s ${name} "$SLURM_JOB_ID"`;
  const wait = `s=$((SLURM_JOB_END_TIME - ${seconds} - $(date +%s))); [ $s -le 0 ] || sleep $s`;
  return `[ -z "$SLURM_JOB_END_TIME" ] || ( ( ${wait}; ${send} ) </dev/null >/dev/null 2>&1 & )`;
}

/** A node without the launchers runs the script too: running it twice is safer than not at all. */
function waitForFirstNode(bin: string): string {
  const srun = quote(`${bin}/srun`);
  return `if [ -x ${srun} ]; then export LATTICE_SCRIPT_ONCE=1; [ "\${LATTICE_NODEID:-0}" = 0 ] || exec ${srun} --wait-for-batch-end; fi`;
}

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

const noInterpreter = (): SlurmError =>
  new SlurmError([
    "sbatch: error: This does not look like a batch script.  The first",
    "sbatch: error: line must start with #! followed by the path to an interpreter.",
    "sbatch: error: For instance: #!/bin/sh",
  ]);
