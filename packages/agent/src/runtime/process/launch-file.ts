// The file by which the agent tells a wrapper what to run. The wrapper reads it twice: while it has its arguments,
// for what it does itself; then, without any, in the process that becomes the command, which gets its environment only
// there. The first line is for the agent, which may be another one by then: whom the command runs as and with what.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { quoted, quotedAll } from "../shell-text.ts";
import { TOLD_FD } from "../user/enter-workdir.ts";

export interface LaunchWords {
  /** Files by which the wrapper joins control groups beyond the one it is in, one to a line. */
  readonly joinBy: string;
  readonly workdir: string;
  readonly umask: string;
  /** The file that says how its output is copied; "": not at all. */
  readonly copy: string;
  /** What the words begin with. */
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** The words before the command may say why it is not begun. */
  readonly tells: boolean;
  readonly kept: KeptLaunch;
}

export interface KeptLaunch {
  /** The wrapper that was told; another may have been first. */
  readonly wrapper: string;
  /** Whom it becomes; null: nobody else. */
  readonly uid: number | null;
  /** All of the job's own, for those who enter later. */
  readonly variables: Readonly<Record<string, string>>;
}

export function writeLaunch(
  dir: string,
  { joinBy, workdir, umask, copy, environment, command, tells, kept }: LaunchWords,
): void {
  const text = [
    `# ${JSON.stringify(kept)}`,
    "case $# in",
    `2) set -- ${quotedAll([joinBy, workdir, umask, copy])} ;;`,
    "0)",
    ...(tells ? [`exec ${TOLD_FD}>"$dir/unlaunched"`] : []),
    becoming(environment, command),
    ";;",
    "esac",
    "",
  ].join("\n");
  // Whole at any time: the wrapper of an earlier life may be reading it.
  writeFileSync(join(dir, "launch.tmp"), text, { mode: 0o600 });
  renameSync(join(dir, "launch.tmp"), join(dir, "launch"));
}

/** Null: there is none, or not of this form. */
export function readLaunch(dir: string): KeptLaunch | null {
  try {
    const [first = ""] = readFileSync(join(dir, "launch"), "utf8").split("\n", 1);
    return JSON.parse(first.slice("# ".length)) as KeptLaunch;
  } catch {
    return null;
  }
}

function becoming(environment: Readonly<Record<string, string>>, command: readonly string[]): string {
  const variables = Object.entries(environment);
  if (variables.every(([name]) => isPlain(name))) {
    const exports = variables.map(([name, value]) => `export ${name}=${quoted(value)}\n`);
    return `${exports.join("")}exec ${quotedAll(command)}`;
  }
  // Two programs more, for names that mean something to the shell or that it cannot have.
  const words = variables.map(([name, value]) => `${name}=${value}`);
  return `exec /usr/bin/env -i ${quotedAll(words)} /bin/sh -c 'exec "$@"' sh ${quotedAll(command)}`;
}

/** Those that some shell keeps to itself. */
const SPECIAL = new Set(["BASHOPTS", "BASH_VERSINFO", "EUID", "IFS", "LINENO", "OPTIND", "PPID", "SHELLOPTS", "UID"]);

const isPlain = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name) && !SPECIAL.has(name);
