// Resolves the user that a workload runs as. Without a mapping it runs as the agent's user; with one, the submitting
// user's name must be that of an ordinary account of the node. Any other name is a failure, never a fallback to root.

import { readFile } from "node:fs/promises";
import { execFile, HELPER_ENVIRONMENT } from "../../base/programs.ts";
import { PrologueError } from "../../base/prologue-error.ts";
import type { FileUser } from "../../files/user-files.ts";
import { checkAccount, checkName, parseId, parseIds } from "./check-account.ts";

/** `groups`: all of them, including the primary one. */
export interface RunAs extends FileUser {
  readonly name: string;
  readonly home: string;
  readonly shell: string;
}

export type UserMapping =
  | { readonly kind: "none" }
  /** The accounts of the node, from any source. */
  | { readonly kind: "passwd" }
  /** Lines of `name uid gid [gid...]`. */
  | { readonly kind: "file"; readonly path: string };

/** Returns null when the text is not a mapping. */
export function parseUserMapping(text: string): UserMapping | null {
  if (text === "none" || text === "passwd") return { kind: text };
  return text.startsWith("file:/") ? { kind: "file", path: text.slice("file:".length) } : null;
}

/** The user of a command that must not run as root and has no account: containers without a mapping. */
export const NOBODY: RunAs = {
  name: "nobody",
  uid: 65534,
  gid: 65534,
  groups: [65534],
  home: "/",
  shell: "/bin/sh",
};

interface UserRules {
  readonly mapping: UserMapping;
  /** Accounts with lower uids are the system's. */
  readonly minUid: number;
}

/** Returns null for the agent's own user. Throws an AccountRefusedError for an account that must not run jobs. */
export async function resolveUser({ mapping, minUid }: UserRules, name: string): Promise<RunAs | null> {
  if (mapping.kind === "none") return null;
  // Validated first: invalid names must not become options of getent.
  if (!/^[A-Za-z0-9_][\w.@-]{0,255}\$?$/.test(name)) throw missing(name);
  checkName(name);
  const found = mapping.kind === "passwd" ? await fromAccounts(name) : await fromFile(mapping.path, name);
  if (found === null) throw missing(name);
  checkAccount(found, name, minUid);
  return found;
}

const missing = (name: string): PrologueError =>
  new PrologueError("user", `there is no user ${JSON.stringify(name.slice(0, 64))} on this node (missing uid)`);

const LOOK_UP_TIMEOUT_MS = 10_000;

/** Uses getent and id, which cover every account source of the node. */
async function fromAccounts(name: string): Promise<RunAs | null> {
  const [entry, groups] = await Promise.all([say("getent", ["passwd", name]), say("id", ["-G", name])]);
  if (entry === null || groups === null) return null;
  const [known, , uid, gid, , home, shell] = (entry.split("\n")[0] ?? "").split(":");
  const ids = { uid: parseId(uid), gid: parseId(gid), groups: parseIds(groups.trim().split(" ")) };
  if (known === undefined || ids.uid === null || ids.gid === null || ids.groups === null) {
    throw new PrologueError("user", `the account of ${name} on this node has no uid, gid and groups`);
  }
  return {
    name: known,
    uid: ids.uid,
    gid: ids.gid,
    groups: ids.groups,
    home: home ?? "/",
    shell: shell === undefined || shell === "" ? "/bin/sh" : shell,
  };
}

async function fromFile(path: string, name: string): Promise<RunAs | null> {
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new PrologueError("user", `the user mapping cannot be read: ${error.message}`);
  });
  const line = text.split("\n").find((each) => each.split(/\s+/)[0] === name);
  if (line === undefined) return null;
  const ids = parseIds(line.trim().split(/\s+/).slice(1));
  const [uid, gid, ...more] = ids ?? [];
  if (uid === undefined || gid === undefined) {
    throw new PrologueError("user", `the user mapping has no uid and gid for ${name}: a line is NAME UID GID [GID...]`);
  }
  return { name, uid, gid, groups: [gid, ...more], home: `/home/${name}`, shell: "/bin/sh" };
}

function say(program: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve, reject) => {
    execFile(program, [...args], { timeout: LOOK_UP_TIMEOUT_MS, env: HELPER_ENVIRONMENT }, (error, stdout) => {
      if (error === null) return resolve(stdout);
      if (typeof error.code === "number") return resolve(null);
      reject(new PrologueError("user", `cannot look up users: ${error.message}`));
    });
  });
}

/**
 * Returns the words that run a command as that user; the caller is root. Its user can trace it, so it must not run where the
 * user's jobs may not be; a program with the setuid bit is closed to its user.
 */
export function asUser({ uid, gid, groups }: FileUser): readonly string[] {
  return ["/usr/bin/setpriv", `--reuid=${uid}`, `--regid=${gid}`, `--groups=${groups.join(",")}`, "--"];
}
