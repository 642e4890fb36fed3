// The file by which the agent makes a wrapper copy a job's output to files of the job's user. The output itself goes
// to the attempt's folder; the copy is made by a process of that user, with that user's rights only. It follows the
// output while the job runs; the wrapper waits for it, so the copy is complete when the job has ended. The first
// second is copied at the end, which spares short jobs the follower.

import { writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fillOutputPath, isPerNode, type pb } from "@lattice/wire";
import { quoted, quotedAll } from "../../base/shell-text.ts";
import { removeOwnNow } from "../../files/own-tree.ts";

interface CopyPlan {
  readonly dir: string;
  readonly order: pb.RunOrder;
  /** Base of relative paths. */
  readonly workdir: string;
  /** The command that writes as the job's user; empty when that is the agent's own. */
  readonly writer: readonly string[];
}

/** Whether there is something to copy on this node. */
export function writeCopy({ dir, order, workdir, writer }: CopyPlan): boolean {
  const file = join(dir, COPY_FILE);
  const { output } = order;
  const wanted = output === undefined ? [] : outputTargets(output, order);
  if (output === undefined || wanted.length === 0) {
    removeOwnNow(file);
    return false;
  }
  const base = order.workdir === "" ? workdir : order.workdir;
  const placed = wanted.map(({ fd, path }) => ({ fd, path: isAbsolute(path) ? path : join(base, path) }));
  writeFileSync(file, copyText(placed, output, writer), { mode: 0o600 });
  return true;
}

/** In the attempt's folder. */
export const COPY_FILE = "copy";
/** Process ids of the copiers, so that they are not taken for the job's processes. */
export const COPIERS_FILE = "copiers";

interface OutputTarget {
  /** The descriptor on which the wrapper has the output open for reading. */
  readonly fd: 7 | 8;
  readonly path: string;
}

/** Several nodes would overwrite each other: only the first node writes, unless the path differs by node. */
function outputTargets({ file, errorFile }: pb.OutputFiles, order: pb.RunOrder): readonly OutputTarget[] {
  const { allocationId: id, name, user, nodes, nodeIndex } = order;
  const facts = { id, name, user, node: nodes[nodeIndex] ?? "", nodeIndex };
  const targets: readonly OutputTarget[] = [
    { fd: 7, path: file },
    ...(errorFile === "" ? [] : [{ fd: 8, path: errorFile } as const]),
  ];
  return targets
    .filter(({ path }) => nodeIndex === 0 || isPerNode(path))
    .map(({ fd, path }) => ({ fd, path: fillOutputPath(path, facts) }));
}

interface Writing {
  /** Before `append` or `truncate` and the files, which it makes. */
  readonly open: readonly string[];
  /** Before the sentinel and the file. */
  readonly follow: readonly string[];
  readonly rest: readonly string[];
}

/** For the agent's own user. The shell's message states why a file cannot be made. */
const OPEN = 'mode=$1; shift; for f; do if [ "$mode" = append ]; then true >>"$f"; else true >"$f"; fi || exit 1; done';
/** A signal to the whole job may end the copier in its first second, before it has copied anything; later none does. */
const FOLLOW = `sleep 1; trap "" TERM INT HUP USR1 USR2; exec tail -c +1 -f -s 0.2 --pid="$1" >>"$2"`;
const REST = 'exec cat >>"$1"';

/** Shell text runs programs, which their user could trace: only the agent's own user has no limits to leave so. */
function writingBy(writer: readonly string[]): Writing {
  if (writer.length > 0) return { open: writer, follow: [...writer, "follow"], rest: [...writer, "rest"] };
  const shell = (script: string): readonly string[] => ["/bin/sh", "-c", script, "sh"];
  return { open: shell(OPEN), follow: shell(FOLLOW), rest: shell(REST) };
}

function copyText(
  files: readonly OutputTarget[],
  { errorFile, append, ifPossible }: pb.OutputFiles,
  writer: readonly string[],
): string {
  const { open, follow, rest } = writingBy(writer);
  const run = (words: readonly string[], more: readonly string[]): string => `${quotedAll(words)} ${more.join(" ")}`;
  const paths = files.map(({ path }) => quoted(path));
  return `exec 7<"$dir/stdout" 8<"$dir/stderr"
go_without() {
  copied= merged=
  printf '%s\\n' "lattice: the output is not written: \${problem#*: *: }" >&2
}
give_up() {
  printf '%s\\n' "prologue output the output file: \${problem#*: *: }" >"$dir/exit"
  exit 1
}
copied=yes merged=${errorFile === "" ? "yes" : ""}
problem=$(${run(open, [append ? "append" : "truncate", ...paths])} 2>&1 7<&- 8<&-) || ${ifPossible ? "go_without" : "give_up"}
follow() {
  (trap '' TERM INT HUP USR1 USR2; exec sleep 2147483647 7<&- 8<&-) &
  sentinel=$! copiers=
${files.map(({ fd, path }) => `  ${run(follow, ['"$sentinel"', quoted(path)])} <&${fd} 7<&- 8<&- & copiers="$copiers $!"`).join("\n")}
  echo "$sentinel$copiers" >"$dir/${COPIERS_FILE}"
}
finish() {
  kill -TERM $copiers
  kill -KILL "$sentinel"
  for copier in "$sentinel" $copiers; do
    while kill -0 "$copier"; do wait "$copier"; done
  done 2>/dev/null
${files.map(({ fd, path }) => `  ${run(rest, [quoted(path)])} <&${fd} 7<&- 8<&-`).join("\n")}
}
`;
}
