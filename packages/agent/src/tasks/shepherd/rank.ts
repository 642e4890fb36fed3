// One rank as a child of the shepherd: its command, its output and its end. The kernel kills the rank when the
// shepherd dies, and it leads its own process group, so that its children are signalled with it.

import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Duplex, Readable, Writable } from "node:stream";
import { spawn } from "../../base/programs.ts";
import { quotedAll } from "../../base/shell-text.ts";
import { wayIn } from "../../host/user/way-in.ts";
import type { ShepherdSpec } from "../frames.ts";
import { boundedLine } from "./bounded-line.ts";
import { PMI_FD, rankEnvironment } from "./rank-environment.ts";
import { type Size, setSize } from "./terminal-size.ts";

interface RankEvents {
  output(stream: "stdout" | "stderr", data: Buffer): void;
  pmi(bytes: Buffer): void;
  ended(end: RankEnd): void;
}

export interface RankEnd {
  readonly code: number;
  readonly signal: number;
  readonly message: string;
}

export interface Rank {
  /** Answers a PMI message. */
  answer(text: string): void;
  /** Sizes and input take effect in order of arrival. */
  write(data: Uint8Array, end: boolean): void;
  resize(size: Size): void;
  signal(name: NodeJS.Signals): void;
  pause(): void;
  resume(): void;
}

const NOT_EXECUTABLE = 126;
const STANDARD_FDS = 3;
const noAct = (): void => undefined;
/** A child of a rank may keep its output open: silence for this long counts as the end. */
const OUTPUT_LINGER_MS = 500;

interface RankStart {
  readonly localRank: number;
  /** Path of setpriv, or "". */
  readonly setpriv: string;
  /** In addition to the variables of every rank. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Runs actions in sequence; one that waits for nothing runs immediately when the queue is empty. */
function queue(): (act: () => Promise<void> | undefined | void) => void {
  let last: Promise<void> | null = null;
  return (act) => {
    const done = last === null ? act() : last.then(act);
    if (done === undefined) return;
    const mine = done.finally(() => {
      if (last === mine) last = null;
    });
    last = mine;
  };
}

export function startRank(spec: ShepherdSpec, start: RankStart, events: RankEvents): Rank {
  const { localRank, setpriv, variables } = start;
  const pipes = furtherPipes(spec);
  const variablesFd = STANDARD_FDS + pipes.length;
  const given = wayIn(rankEnvironment(spec, localRank, variables), spec.prefix, variablesFd);
  const [program = "", ...args] = commandOf({ ...spec, prefix: given.prefix }, { localRank, setpriv });
  const child = spawn(program, args, {
    cwd: startsIn(spec),
    env: given.environment,
    detached: true,
    // Node's pipes are socket pairs, as PMI needs.
    stdio: [
      reads(spec, localRank) ? "pipe" : "ignore",
      "pipe",
      "pipe",
      ...pipes,
      ...(given.variables === null ? [] : (["pipe"] as const)),
    ],
  });
  const { stdout, stderr } = child;
  const pmi = spec.pmi ? (child.stdio[PMI_FD] as Duplex | undefined) : undefined;
  const flow: Flow = { paused: false, moved: false };
  watchEnd(child, spec, events, flow);
  // The command may end before it has read all.
  if (given.variables !== null) (child.stdio[variablesFd] as Writable).on("error", noAct).end(given.variables);
  for (const stream of [child.stdin, stdout, stderr, pmi]) stream?.on("error", noAct);
  const pass = (stream: "stdout" | "stderr") => (data: Buffer) => {
    flow.moved = true;
    events.output(stream, data);
  };
  stdout?.on("data", pass("stdout"));
  stderr?.on("data", pass("stderr"));
  pmi?.on("data", (bytes: Buffer) => events.pmi(bytes));
  const inOrder = queue();
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const typed = (data: Uint8Array, end: boolean): void => {
    const stdin: Writable | null = child.stdin;
    if (data.length > 0) stdin?.write(data);
    if (end) stdin?.end();
  };
  const sources: readonly (Readable | null | undefined)[] = [stdout, stderr, pmi];
  return {
    answer: (text) => pmi?.write(text, "latin1"),
    write: (data, end) => inOrder(() => typed(data, end)),
    resize: (size) =>
      inOrder(() =>
        child.pid === undefined ? undefined : setSize({ pid: child.pid, by: spec.resizeBy }, size, hasEnded),
      ),
    signal(name) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      try {
        process.kill(-child.pid, name);
      } catch {
        // Ended meanwhile.
      }
    },
    pause() {
      flow.paused = true;
      for (const stream of sources) stream?.pause();
    },
    resume() {
      flow.paused = false;
      for (const stream of sources) stream?.resume();
    },
  };
}

/** Whether output is being read: held-back output is not silence. */
interface Flow {
  paused: boolean;
  moved: boolean;
}

const begins = ({ inImage, prefix }: ShepherdSpec): boolean => prefix.length > 0 && !inImage;

/** A rank with another user enters its folder itself. */
const startsIn = ({ prefix, workdir }: ShepherdSpec): string => (prefix.length > 0 ? "/" : workdir);

const furtherPipes = (spec: ShepherdSpec): readonly ("pipe" | "ignore")[] => {
  if (begins(spec)) return [spec.pmi ? "pipe" : "ignore", "pipe"];
  return spec.pmi ? ["pipe"] : [];
};

const reads = (spec: ShepherdSpec, localRank: number): boolean =>
  spec.firstRank + localRank === 0 && (spec.input || spec.pty !== null);

interface CommandPlace {
  readonly localRank: number;
  readonly setpriv: string;
}

function commandOf(spec: ShepherdSpec, { localRank, setpriv }: CommandPlace): readonly string[] {
  const guard = setpriv === "" ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
  const terminal = spec.pty !== null && spec.firstRank + localRank === 0;
  const command = terminal ? inTerminal(spec.command, spec.pty) : spec.command;
  // Changing the user clears the death signal, so the guard comes last; a container may lack setpriv, so it also comes
  // first.
  return spec.inImage
    ? [...guard, ...spec.prefix, ...inFolder(spec, setpriv !== "", command)]
    : [...spec.prefix, ...guard, ...(begins(spec) ? beginWords(spec) : []), ...command];
}

const GUARD_WHERE_THERE_IS = '[ -x /usr/bin/setpriv ] && set -- /usr/bin/setpriv --pdeathsig KILL -- "$@"; ';

/** A missing directory is not entered; the job's own is used. */
const inFolder = ({ workdir }: ShepherdSpec, guarded: boolean, command: readonly string[]): readonly string[] => [
  "/bin/sh",
  "-c",
  `cd "$0" 2>/dev/null; ${guarded ? GUARD_WHERE_THERE_IS : ""}exec "$@"`,
  workdir,
  ...command,
];

/** `script` gives a command a terminal and passes on what it reads and writes. */
function inTerminal(command: readonly string[], size: { rows: number; columns: number }): readonly string[] {
  const sized = size.rows > 0 && size.columns > 0 ? `stty rows ${size.rows} cols ${size.columns}; ` : "";
  return ["script", "--quiet", "--return", "--flush", "--command", `${sized}exec ${quotedAll(command)}`, "/dev/null"];
}

/** Reported once, when the rank is gone and its output is read. */
function watchEnd(child: ChildProcess, spec: ShepherdSpec, events: RankEvents, flow: Flow): void {
  let over = false;
  let look: NodeJS.Timeout | undefined;
  let lastLine = "";
  const failures = begins(spec) ? (child.stdio[TOLD_FD] as Readable | undefined) : undefined;
  failures?.on("error", () => undefined);
  failures?.once("data", (bytes: Buffer) => {
    lastLine = boundedLine(bytes.toString());
    failures.destroy();
  });
  const end = (what: RankEnd): void => {
    if (over) return;
    over = true;
    clearInterval(look);
    events.ended(what);
  };
  child.once("error", (error: NodeJS.ErrnoException) => end(notStarted(error, spec)));
  child.once("exit", (code, signal) => {
    const number = signal === null ? 0 : constants.signals[signal];
    const what = (): RankEnd => ({ code: code ?? 128 + number, signal: number, message: lastLine });
    child.once("close", () => end(what()));
    look = setInterval(() => {
      if (!flow.paused && !flow.moved) end(what());
      flow.moved = false;
    }, OUTPUT_LINGER_MS);
  });
}

const notStarted = (error: Error, spec: ShepherdSpec): RankEnd => ({
  code: NOT_EXECUTABLE,
  signal: 0,
  message: `cannot start ${spec.command[0] ?? ""}: ${error.message}`,
});

// The last step before the command of a rank that has changed its user: enters the working directory and looks for the
// program with the user's own rights. Root may go everywhere, so the shepherd must do neither. A failure is written to a
// file descriptor that the shepherd reads and that the command does not inherit.

/** After the descriptor of PMI. */
const TOLD_FD = 4;

const BEGIN = `workdir=$1 program=$2
shift 2
fail() { printf '%s\\n' "$2" >&${TOLD_FD}; exit "$1"; }
[ -z "$workdir" ] || cd -- "$workdir" 2>/dev/null || fail 126 "the working directory $workdir does not exist or is not accessible"
case $program in
*/*)
  [ -e "$program" ] || fail 127 "command not found: $program"
  [ -f "$program" ] && [ -x "$program" ] || fail 126 "$program cannot be executed" ;;
*) command -v -- "$program" >/dev/null || fail 127 "command not found: $program" ;;
esac
unset workdir program
exec ${TOLD_FD}>&-`;

/** Returns the words before the command; the command itself may run inside another program. */
const beginWords = ({ workdir, command, pmi }: ShepherdSpec): readonly string[] => [
  ...["/bin/sh", "-c", `${BEGIN} ${pmi ? "" : `${PMI_FD}>&-`}\nexec "$@"`, "sh"],
  ...[workdir, command[0] ?? ""],
];
