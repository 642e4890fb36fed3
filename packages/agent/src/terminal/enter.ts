// How a terminal comes to be where an attempt is: in the namespaces of the attempt's first process,
// as its user, in its folder, with its environment. All of it is read from that process, so that
// every runtime is served alike. Namespaces that are the agent's own are not entered again.

import { access, constants, readFile, readlink } from "node:fs/promises";

export interface Entered {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** On the node, for whoever does not enter a mount namespace. */
  readonly cwd: string;
}

export interface Wanted {
  /** The attempt's first process. */
  readonly pid: number;
  /** Its environment; absent or null: what can be read from it. */
  readonly variables?: Readonly<Record<string, string>> | null;
  /** For /bin/sh -c; "": the user's shell. */
  readonly line: string;
  readonly term: string;
}

/** Null: the process is gone. */
export async function enter({ pid, variables: known, line, term }: Wanted): Promise<Entered | null> {
  const [environ, cwd, status] = await Promise.all([
    readFile(`/proc/${pid}/environ`, "utf8").catch(() => null),
    readlink(`/proc/${pid}/cwd`).catch(() => null),
    readFile(`/proc/${pid}/status`, "utf8").catch(() => ""),
  ]);
  if (environ === null || cwd === null) return null;
  const spaces = await foreignNamespaces(pid);
  const inside = spaces.includes("mnt");
  const flags = [...spaces.map((name) => FLAGS[name]), ...(inside ? ["--root", "--wd"] : []), ...owner(status, spaces)];
  const variables = known ?? parseEnviron(environ);
  const shell = line === "" && !inside ? [await firstShell(variables.SHELL)] : ["/bin/sh", "-c", line || OWN_SHELL];
  // What may not gain rights inside may not do so by a terminal either.
  const confined = /^NoNewPrivs:\s+1/m.test(status) ? ["setpriv", "--no-new-privs", "--"] : [];
  return {
    command: flags.length === 0 ? shell : [...confined, "nsenter", `--target=${pid}`, ...flags, "--", ...shell],
    environment: { ...variables, TERM: term === "" ? DEFAULT_TERM : term },
    cwd: inside ? "/" : cwd,
  };
}

export const DEFAULT_TERM = "xterm-256color";

/** The one that the environment names, or the best there is; what a container lacks is passed over. */
const OWN_SHELL = 'for shell in "$SHELL" /bin/bash /bin/sh; do [ -x "$shell" ] && exec "$shell"; done; exec /bin/sh';

/** The same, where the node's own files are what the attempt sees. */
async function firstShell(wanted: string | undefined): Promise<string> {
  for (const shell of [wanted ?? "", "/bin/bash"]) {
    const runs = await access(shell, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return shell;
  }
  return "/bin/sh";
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

/** Its user, when that is another than the agent's. In a user namespace its root is the way in. */
function owner(status: string, spaces: readonly Namespace[]): string[] {
  if (spaces.includes("user")) return [];
  const idOf = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN);
  const [uid, gid] = [idOf("Uid"), idOf("Gid")];
  if (Number.isNaN(uid) || uid === process.getuid?.()) return [];
  return [`--setuid=${uid}`, `--setgid=${gid}`];
}

export function parseEnviron(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const entry of text.split("\0")) {
    const at = entry.indexOf("=");
    if (at > 0) variables[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return variables;
}
