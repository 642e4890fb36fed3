// Determines how a terminal enters an attempt: the namespaces, user, directory and environment of its first process, so
// that every runtime is handled alike. Namespaces shared with the agent are not entered.

import { readFile, readlink, stat } from "node:fs/promises";
import { enterProgram, nativeWords } from "./native-enter.ts";
import { groupWords, ownerOf, type ProcessOwner } from "./owner.ts";

interface Entered {
  /** Words that enter its namespaces and become its user; empty when there is nothing to enter. */
  readonly prefix: readonly string[];
  /** The command to run. */
  readonly shell: readonly string[];
  /** Its user, if different from the agent's. */
  readonly owner: ProcessOwner | null;
  readonly environment: Readonly<Record<string, string>>;
  /** Path on the node, for entering without a mount namespace. Root must not go there by this path. */
  readonly cwd: string;
  /** Identifies that directory, whatever its path leads to later. */
  readonly cwdId: string;
  /** In octal digits; "" when unknown. */
  readonly umask: string;
}

interface EnterRequest {
  /** The attempt's first process. */
  readonly pid: number;
  /** Its environment. Default: read from the process. */
  readonly variables?: Readonly<Record<string, string>> | null;
  /** For /bin/sh -c; "" for the user's shell. */
  readonly line: string;
  readonly term: string;
  /** Where the seccomp filters of its processes are kept. */
  readonly filters: string;
}

/** Resolves to null when the process is gone. */
export async function enter({ pid, variables: known, line, term, filters }: EnterRequest): Promise<Entered | null> {
  const [environ, cwd, cwdId, status] = await Promise.all([
    readFile(`/proc/${pid}/environ`, "utf8").catch(() => null),
    readlink(`/proc/${pid}/cwd`).catch(() => null),
    directoryId(`/proc/${pid}/cwd`).catch(() => null),
    readFile(`/proc/${pid}/status`, "utf8").catch(() => ""),
  ]);
  if (environ === null || cwd === null || cwdId === null) return null;
  const spaces = await foreignNamespaces(pid);
  const inside = spaces.includes("mnt");
  // In a user namespace, it is entered as the namespace's root.
  const owner = spaces.includes("user") ? null : ownerOf(status);
  const variables = known ?? parseEnviron(environ);
  return {
    prefix: await prefixOf({ pid, status, spaces, owner, filters }),
    shell: ["/bin/sh", "-c", line || OWN_SHELL],
    owner,
    environment: { ...variables, TERM: term === "" ? DEFAULT_TERM : term },
    cwd: inside ? "/" : cwd,
    cwdId,
    umask: /^Umask:\s+([0-7]+)/m.exec(status)?.[1] ?? "",
  };
}

interface Way {
  readonly pid: number;
  readonly status: string;
  readonly spaces: readonly Namespace[];
  readonly owner: ProcessOwner | null;
  readonly filters: string;
}

/** Uses the native program where it exists and the mount namespace changes; else standard tools. */
async function prefixOf({ pid, status, spaces, owner, filters }: Way): Promise<readonly string[]> {
  const inside = spaces.includes("mnt");
  const flags = spaces.map((name) => FLAGS[name]);
  const program = inside && !spaces.includes("user") && process.getuid?.() === 0 ? enterProgram() : null;
  if (program !== null) return nativeWords(program, { pid, status, spaces: flags, owner, filters });
  const entering = [
    ...flags,
    ...(inside ? ["--root", "--wd"] : []),
    ...(owner === null ? [] : [`--setuid=${owner.uid}`]),
  ];
  if (entering.length === 0) return [];
  // A terminal must not gain rights that the processes inside cannot. nsenter would drop all other groups.
  const privileges = [
    ...(/^NoNewPrivs:\s+1/m.test(status) ? ["--no-new-privs"] : []),
    ...(owner === null ? [] : groupWords(owner)),
  ];
  const before = privileges.length === 0 ? [] : ["setpriv", ...privileges, "--"];
  return [...before, "nsenter", `--target=${pid}`, ...entering, "--"];
}

const DEFAULT_TERM = "xterm-256color";

/** The shell named by the environment, or the best one available; looked for with the rights of the user. */
const OWN_SHELL = 'for shell in "$SHELL" /bin/bash /bin/sh; do [ -x "$shell" ] && exec "$shell"; done; exec /bin/sh';

async function directoryId(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true });
  return `${dev}:${ino}`;
}

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

function parseEnviron(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const entry of text.split("\0")) {
    const at = entry.indexOf("=");
    if (at > 0) variables[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return variables;
}
