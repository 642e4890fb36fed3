// The script that builds an attempt's view of the file system and then becomes its command. It runs in a mount namespace
// that ends with the last process in it, so nothing stays mounted. It contains literal words only, since a variable of
// its own could shadow one of the job's.
//
// `init.pid` is written when everything is mounted: its reader may enter the namespaces of that process. A stage that
// fails leaves its message in `unlaunched`, where the wrapper finds it.

import { join } from "node:path";
import { quoted, quotedAll } from "../../base/shell-text.ts";

export interface ImageMount {
  readonly image: string;
  readonly at: string;
}

export type DataMount =
  | { readonly kind: "bind"; readonly source: string; readonly at: string; readonly readOnly: boolean }
  | { readonly kind: "nfs"; readonly source: string; readonly at: string; readonly readOnly: boolean }
  | {
      readonly kind: "fuse";
      readonly words: readonly string[];
      readonly at: string;
      /** A file needed only for mounting, removed afterwards. */
      readonly secret?: string;
    };

interface EnterPlan {
  readonly dir: string;
  readonly images: readonly ImageMount[];
  readonly data: readonly DataMount[];
  /** Empty for the wrapper's folder. */
  readonly workdir: string;
  /** Put before the command: change of user, memory policy, late variables. */
  readonly before: readonly string[];
  /** The command is a container engine: it writes `init.pid` itself, or has failed with this exit code or any. */
  readonly byEngine: false | number | "any";
}

export function enterScript(plan: EnterPlan): string {
  const errors = quoted(join(plan.dir, "prologue.err"));
  const unlaunched = quoted(join(plan.dir, "unlaunched"));
  return [
    "failed() {",
    `  { printf 'prologue %s ' "$1"; /usr/bin/tr '\\n' ' ' <${errors}; echo; } >${unlaunched}`,
    "  exit 1",
    "}",
    `exec 3>&2 2>${errors}`,
    // Private shared memory: invisible to other jobs, and gone with the namespace.
    "/bin/mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs /dev/shm || failed mounts",
    ...plan.images.map(({ image, at }) => mountImage(image, at)),
    ...plan.data.map(mountData),
    ...(plan.workdir === "" ? [] : [goTo(plan.workdir)]),
    "exec 2>&3 3>&-",
    ...(plan.byEngine === false ? becomeCommand(plan) : runEngine(plan, plan.byEngine, unlaunched)),
    "",
  ].join("\n");
}

function goTo(workdir: string): string {
  const words = `the working directory is not there, or may not be entered: ${workdir}`;
  return `cd ${quoted(workdir)} 2>/dev/null || { printf '%s\\n' ${quoted(words)} >&2; failed workdir; }`;
}

const becomeCommand = ({ dir, before }: EnterPlan): readonly string[] => [
  `echo $$ >${quoted(join(dir, "init.pid"))}`,
  before.length === 0 ? 'exec "$@"' : `exec ${quotedAll(before)} "$@"`,
];

/** A started container may exit with the same code for other reasons. */
const runEngine = ({ dir, before }: EnterPlan, code: number | "any", unlaunched: string): readonly string[] => [
  "trap : TERM INT HUP USR1 USR2",
  `${quotedAll(before)} "$@"`,
  `set -- $? "$(/usr/bin/tail -n 1 ${quoted(join(dir, "stderr"))})"`,
  `if [ ! -s ${quoted(join(dir, "init.pid"))} ]; then`,
  '  case "$1 $2" in',
  // The engine reports these with the exit code of a command that cannot be executed.
  `  126" "*"workdir "* | 12[67]" "*"chdir to "*) printf 'prologue workdir %s\\n' "$2" >${unlaunched} ;;`,
  ...(code === "any" ? ['  0" "*) ;;'] : []),
  `  ${code === "any" ? "*" : `${code}" "* | 126" Error: OCI runtime error"*`}) printf 'prologue container %s\\n' "$2" >${unlaunched} ;;`,
  "  esac",
  "fi",
  'exit "$1"',
];

function mountImage(image: string, at: string): string {
  const options = "ro,loop,nosuid,nodev";
  return `${makeFolder(at)}/bin/mount -t squashfs -o ${options} ${quoted(image)} ${quoted(at)} || failed uenv`;
}

function mountData(mount: DataMount): string {
  const at = quoted(mount.at);
  if (mount.kind === "fuse") return mountFuse(mount);
  const source = quoted(mount.source);
  const access = mount.readOnly ? "ro" : "rw";
  if (mount.kind === "nfs") {
    return `${makeFolder(mount.at)}/bin/mount -t nfs -o ${access},nosuid,nodev ${source} ${at} || failed mounts`;
  }
  const remount = `/bin/mount -o remount,bind,${access},nosuid,nodev ${at}`;
  return `${makeFolder(mount.at)}/bin/mount --bind ${source} ${at} && ${remount} || failed mounts`;
}

function mountFuse({ words, at, secret }: Extract<DataMount, { readonly kind: "fuse" }>): string {
  const mounted = `${makeFolder(at)}${quotedAll(words)}`;
  if (secret === undefined) return `${mounted} || failed mounts`;
  const remove = `/bin/rm -f ${quoted(secret)}`;
  return `${mounted} || { ${remove}; failed mounts; }\n${remove}`;
}

/** Created on the node when missing, and kept: an empty folder to mount over. */
const makeFolder = (at: string): string => `[ -d ${quoted(at)} ] || /bin/mkdir -p ${quoted(at)} || failed mounts\n`;

/** Returns the words that run such a script in a new mount namespace. */
export const enterWords = (script: string): readonly string[] => [
  "/usr/bin/unshare",
  "-m",
  "--propagation",
  "private",
  "--",
  "/bin/sh",
  script,
];
