// The file by which the agent instructs a wrapper. The wrapper reads it twice: with arguments, for its own settings;
// without, in the process that becomes the command, which gets its environment only there. The first line is for the
// agent, possibly a later one: the user and the variables of the command.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { quoted, quotedAll } from "../../base/shell-text.ts";
import type { FileUser } from "../../files/user-files.ts";
import type { ProcessUsage } from "../../host/usage/usage.ts";

interface LaunchWords {
  /** Files by which the wrapper joins further control groups, one per line. */
  readonly joinBy: string;
  readonly workdir: string;
  readonly umask: string;
  /** The file that controls the copy of its output; "" for none. */
  readonly copy: string;
  /** Exported before the command words. */
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly kept: KeptLaunch;
  /** No wrapper can be reading an earlier file. */
  readonly isFirst: boolean;
}

export interface KeptLaunch {
  /** The instructed wrapper; another may have claimed the attempt first. */
  readonly wrapper: string;
  /** The user it changes to; `null` when it keeps the agent's. */
  readonly owner: FileUser | null;
  /** The counters of the wrapper and its group at its start. */
  readonly before: ProcessUsage | null;
  /** The job's whole environment, for terminals and tasks. */
  readonly variables: Readonly<Record<string, string>>;
}

export function writeLaunch(
  dir: string,
  { joinBy, workdir, umask, copy, environment, command, kept, isFirst }: LaunchWords,
): void {
  const text = [
    `# ${JSON.stringify(kept)}`,
    "case $# in",
    `2) set -- ${quotedAll([joinBy, workdir, umask, copy])} ;;`,
    "0)",
    becoming(environment, command),
    ";;",
    "esac",
    "",
  ].join("\n");
  // Replaced atomically: a wrapper of an earlier run may be reading it.
  writeFileSync(join(dir, isFirst ? "launch" : "launch.tmp"), text, { mode: 0o600 });
  if (!isFirst) renameSync(join(dir, "launch.tmp"), join(dir, "launch"));
}

/** Returns null when the file is missing or malformed. */
export function readLaunch(dir: string): KeptLaunch | null {
  try {
    const [first = ""] = readFileSync(join(dir, "launch"), "utf8").split("\n", 1);
    return JSON.parse(first.slice("# ".length)) as KeptLaunch;
  } catch {
    return null;
  }
}

function becoming(environment: Readonly<Record<string, string>>, command: readonly string[]): string {
  const exports = Object.entries(environment).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  return `${exports.join("")}exec ${quotedAll(command)}`;
}

/** Names that some shells reserve. */
const SPECIAL = new Set(["BASHOPTS", "BASH_VERSINFO", "EUID", "IFS", "LINENO", "OPTIND", "PPID", "SHELLOPTS", "UID"]);

/** Whether a shell can export a variable of this name. */
export const isExportable = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name) && !SPECIAL.has(name);
