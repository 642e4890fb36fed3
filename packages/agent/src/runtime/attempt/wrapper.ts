// The shell script between the agent and a workload. It leads the session, so the workload outlives the agent; it claims
// the attempt by creating `pid` with noclobber, so the same attempt never runs twice; and it leaves the exit status in
// `exit`. It forks once, for the command. Only the process that becomes the command has the job's environment and is in
// the groups with limits, and no variable of this script is in its environment.
//
// Arguments: its name, recorded with the claim, and the file by which it joins its control group (or empty). Joining can
// take longer than everything else, so it happens before there is an attempt; the attempt's folder is read from standard
// input after "=" ("-" or the end of the input dismisses the wrapper). `launch` in that folder contains the rest: files to
// join further groups by (one per line, or empty), working directory, umask, a file about copying the output (or empty),
// and the command. A prologue that continues inside the command leaves its failure in `unlaunched`. `exit` is one line
// written in one call; a reader accepts it only with its newline. A rename would need one more process per job and
// guarantee nothing more.
//
// After an attempt it writes "over" with the exit status and waits for the next one, which spares that one a process and
// its control group. A wrapper that could not start the command, or copied its output, ends instead.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The wrapper found the attempt claimed by another wrapper, or could not claim it at all. */
export const NOT_CLAIMED = 97;

const wrapperScript = `# Runs attempts of Lattice allocations, one after the other; started by lattice-agent.
wrapper=$1 joined=yes
if [ -n "$2" ]; then echo 0 >"$2" || joined=no; fi
echo "ready $$"
exec 5<&0 6>&1
while read -r kind dir <&5 && [ "$kind" = "=" ]; do
  set -C
  echo "$$ $wrapper" >"$dir/pid" || exit ${NOT_CLAIMED}
  set +C
  trap : TERM INT HUP USR1 USR2
  umask 077
  exec </dev/null >>"$dir/stdout" 2>>"$dir/stderr"
  set -- "" ""
  . "$dir/launch"
  umask "$3"
  if [ $joined = no ]; then
    echo "launch could not join its control group" >"$dir/exit"
    exit 1
  fi
  if ! cd "$2"; then
    if [ -d "$2" ]; then set -- "is not accessible: $2"; else set -- "does not exist: $2"; fi
    printf 'prologue workdir the working directory %s\\n' "$1" >"$dir/exit"
    exit 1
  fi
  if [ -e "$dir/stop" ]; then
    echo "launch it was stopped before it began" >"$dir/exit"
    exit 1
  fi
  groups=$1 copy=$4 copied= merged=
  if [ -n "$copy" ]; then
    exec 5<&- 6>&-
    . "$copy"
    [ -z "$copied" ] || follow
  fi
  (
    exec 5<&- 6>&- 7<&- 8<&-
    set -f
    IFS='
'
    for group in $groups; do
      echo 0 >"$group" || {
        echo "launch could not join its control group" >"$dir/unlaunched"
        exit 1
      }
    done
    set +f
    unset IFS
    [ -z "$merged" ] || exec 2>&1
    set --
    . "$dir/launch"
  )
  set -- "$dir" $?
  [ -z "$copied" ] || finish
  if [ -s "$1/unlaunched" ] && read -r line <"$1/unlaunched"; then
    printf '%s\\n' "$line" >"$1/exit"
  else
    echo "$2" >"$1/exit"
  fi
  [ -z "$copy" ] || exit "$2"
  cd / && exec >/dev/null 2>&1 || exit "$2"
  echo 0 >/proc/self/autogroup
  echo "over $2" >&6
done
`;

/** Writes the script under a name made from its content: a newer agent never changes the script that an older wrapper reads. */
export async function writeWrapper(dataDir: string): Promise<string> {
  const digest = createHash("sha256").update(wrapperScript).digest("hex").slice(0, 8);
  const path = join(dataDir, `run-attempt-${digest}.sh`);
  if (existsSync(path)) return path;
  await writeFile(`${path}.${process.pid}`, wrapperScript);
  await rename(`${path}.${process.pid}`, path);
  return path;
}
