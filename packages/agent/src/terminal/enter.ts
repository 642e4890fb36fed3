// Determines how a terminal enters an attempt: the namespaces and directory of its first process, so that every runtime is
// handled alike. Namespaces shared with the agent are not entered. The user is the one that the attempt was started as: what
// the process runs as can change at any moment.

import { existsSync, readFileSync, renameSync } from "node:fs";
import { readFile, readlink } from "node:fs/promises";
import { ENTER_MISSING, enterProgram } from "../base/enter-program.ts";
import { execFile, HELPER_ENVIRONMENT } from "../base/programs.ts";
import type { FileUser } from "../files/user-files.ts";
import type { FirstProcess } from "../host/first-process.ts";

interface Entered {
  /** Words that enter its namespaces and become its user; empty when there is nothing to enter. */
  readonly prefix: readonly string[];
  /** The command to run. */
  readonly shell: readonly string[];
  /** Its user, if different from the agent's. */
  readonly owner: FileUser | null;
  readonly environment: Readonly<Record<string, string>>;
  /** Path on the node, for entering without a mount namespace. It may lead elsewhere by now, and root must not go there. */
  readonly cwd: string;
  /** In octal digits; "" when unknown. */
  readonly umask: string;
}

interface EnterRequest extends Omit<FirstProcess, "joinBy"> {
  /** For /bin/sh -c; "" for the user's shell. */
  readonly line: string;
  readonly term: string;
}

/** Resolves to null when the process is gone. Rejects when it cannot be entered. */
export async function enter(request: EnterRequest): Promise<Entered | null> {
  const { pid, owner, filters, variables, line, term } = request;
  const [workdir, status] = await Promise.all([
    readlink(`/proc/${pid}/cwd`).catch(() => null),
    readFile(`/proc/${pid}/status`, "utf8").catch(() => ""),
  ]);
  if (workdir === null || status === "") return null;
  const spaces = await foreignNamespaces(pid);
  return {
    prefix: await prefixOf({ pid, status, owner, filters }, spaces),
    shell: ["/bin/sh", "-c", line || OWN_SHELL],
    owner,
    environment: { ...variables, TERM: term === "" ? DEFAULT_TERM : term },
    cwd: spaces.includes("mnt") ? "/" : workdir,
    umask: /^Umask:\s+([0-7]+)/m.exec(status)?.[1] ?? "",
  };
}

/** An agent that is root uses its own program. Elsewhere the jobs are the agent's own user, and standard tools suffice. */
async function prefixOf(
  { pid, status, owner, filters }: Omit<NativeEntry, "spaces">,
  spaces: readonly Namespace[],
): Promise<readonly string[]> {
  if (owner === null && spaces.length === 0) return [];
  const flags = spaces.map((name) => FLAGS[name]);
  const inside = spaces.includes("mnt");
  const program = process.getuid?.() === 0 ? enterProgram() : null;
  if (program !== null) {
    return nativeWords(program, { pid, status, spaces: flags, owner, filters: inside ? filters : null });
  }
  if (owner !== null) throw new Error(ENTER_MISSING);
  // A terminal must not gain rights that the processes inside cannot.
  const before = /^NoNewPrivs:\s+1/m.test(status) ? ["/usr/bin/setpriv", "--no-new-privs", "--"] : [];
  return [...before, "/usr/bin/nsenter", `--target=${pid}`, ...flags, ...(inside ? ["--root", "--wd"] : []), "--"];
}

const DEFAULT_TERM = "xterm-256color";

/** The shell named by the environment, or the best one available; looked for with the rights of the user. */
const OWN_SHELL = 'for shell in "$SHELL" /bin/bash /bin/sh; do [ -x "$shell" ] && exec "$shell"; done; exec /bin/sh';

const FLAGS = {
  user: "--user",
  mnt: "--mount",
  uts: "--uts",
  ipc: "--ipc",
  net: "--net",
  pid: "--pid",
  cgroup: "--cgroup",
} as const;
type Namespace = keyof typeof FLAGS;

async function foreignNamespaces(pid: number): Promise<readonly Namespace[]> {
  const names = Object.keys(FLAGS) as Namespace[];
  const differs = await Promise.all(
    names.map(async (name) => {
      const [own, theirs] = await Promise.all([linkOf("self", name), linkOf(String(pid), name)]);
      return theirs !== null && own !== theirs;
    }),
  );
  return names.filter((_, i) => differs[i]);
}

const linkOf = (process: string, name: Namespace): Promise<string | null> =>
  readlink(`/proc/${process}/ns/${name}`).catch(() => null);

interface NativeEntry {
  readonly pid: number;
  /** The status of that process, from /proc. */
  readonly status: string;
  /** Flags of namespaces. */
  readonly spaces: readonly string[];
  readonly owner: FileUser | null;
  /** Where its filters are kept; `null` when they are not applied. */
  readonly filters: string | null;
}

/** Rejects when the filters cannot be read: a terminal must not have more rights than the processes inside. */
async function nativeWords(program: string, entry: NativeEntry): Promise<readonly string[]> {
  const { pid, status, spaces, owner, filters } = entry;
  const user = owner === null ? [] : [`--setuid=${owner.uid}`];
  const place = [`--target=${pid}`, ...user];
  const filtered = filters !== null && filterCount(status) > filterCount(readFileSync("/proc/self/status", "utf8"));
  if (filtered && !existsSync(filters)) await saveFilters(program, place, filters);
  return [
    program,
    ...place,
    ...spaces,
    ...(owner === null ? [] : [`--setgid=${owner.gid}`, `--groups=${owner.groups.join(",")}`]),
    ...(filtered ? [`--filters=${filters}`] : []),
    "--",
  ];
}

/** Older kernels report only whether there are filters. */
function filterCount(status: string): number {
  const counted = /^Seccomp_filters:\s+(\d+)/m.exec(status)?.[1];
  return counted === undefined ? Number(/^Seccomp:\s+2/m.test(status)) : Number(counted);
}

const DEADLINE_MS = 10_000;
let saved = 0;

function saveFilters(program: string, place: readonly string[], file: string): Promise<void> {
  saved += 1;
  const partial = `${file}.${process.pid}.${saved}`;
  const how = { timeout: DEADLINE_MS, env: HELPER_ENVIRONMENT };
  return new Promise((resolve, reject) => {
    execFile(program, [...place, `--save-filters=${partial}`], how, (error, _out, errors) => {
      if (error !== null) return reject(new Error(errors.trim() === "" ? error.message : errors.trim()));
      // Moved into place atomically, for concurrent entries.
      renameSync(partial, file);
      resolve();
    });
  });
}
