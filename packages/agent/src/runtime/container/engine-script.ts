// The script that starts a container engine and waits for it. It runs in the attempt's mount namespace, in which only
// folders of the attempt itself are mounted. It contains literal words only, since a variable of its own could shadow
// one of the engine's. An engine that fails before its container exists is reported in `unlaunched`, and so is a
// working directory that lattice-inside could not enter inside.

import { join } from "node:path";
import { quoted, quotedAll } from "../../base/shell-text.ts";

interface EngineScript {
  readonly dir: string;
  /** By a path that only the agent can reach, unless the file is the agent's own. */
  readonly initFile: string;
  /** The engine with its options; the command follows. */
  readonly engine: readonly string[];
  /** The exit code by which the engine reports its own failures. */
  readonly failsWith: number | "any";
}

const LAST_BYTES = 4096;

/** A started container may exit with the same code for other reasons, so `initFile` decides: the engine writes it. */
export function engineScript({ dir, engine, initFile, failsWith }: EngineScript): string {
  const unlaunched = quoted(join(dir, "unlaunched"));
  return [
    "trap : TERM INT HUP USR1 USR2",
    `${quotedAll(engine)} "$@"`,
    // The job can make the file larger than can be read.
    `set -- $? "$(/usr/bin/tail -c ${LAST_BYTES} ${quoted(join(dir, "stderr"))} | /usr/bin/tr -d '\\000' | /usr/bin/tail -n 1)"`,
    'case "$1 $2" in',
    `  126" lattice: the working directory "*) printf 'prologue workdir %s\\n' "\${2#lattice: }" >${unlaunched} ;;`,
    "esac",
    `if [ ! -s ${quoted(initFile)} ]; then`,
    '  case "$1 $2" in',
    // The engine reports these with the exit code of a command that cannot be executed.
    `  126" lattice: "*) ;;`,
    `  126" "*"workdir "* | 12[67]" "*"chdir to "*) printf 'prologue workdir %s\\n' "$2" >${unlaunched} ;;`,
    ...(failsWith === "any" ? ['  0" "*) ;;'] : []),
    `  ${failsWith === "any" ? "*" : `${failsWith}" "* | 126" Error: OCI runtime error"*`}) printf 'prologue container %s\\n' "$2" >${unlaunched} ;;`,
    "  esac",
    "fi",
    'exit "$1"',
    "",
  ].join("\n");
}
