// Decides which accounts may run jobs: ordinary ones, under the name that was requested. The account sources of a node
// accept more than names (`getent passwd 0` finds root) and normalise what they are given, so the answer is checked,
// not the question alone. Pure.

import { PrologueError } from "../../base/prologue-error.ts";
import type { FileUser } from "../../files/user-files.ts";

export type RefusedAccount = "number" | "name" | "root" | "system";

/** The user of an order must not run jobs on this node. */
export class AccountRefusedError extends PrologueError {
  readonly reason: RefusedAccount;

  constructor(reason: RefusedAccount, name: string, why: string) {
    super("user", `the user ${JSON.stringify(name.slice(0, 64))} must not run jobs on this node: ${why}`);
    this.reason = reason;
  }
}

/**
 * The user and group of gateways between networks once they listen. It is not that of nobody, which jobs in containers
 * may have: those could end a gateway or take its place.
 */
export const GATEWAY_ID = 65_533;

/** Systems reserve the others: `nobody`, and -1 in 16 and 32 bits, which means "no change" to setuid. */
const RESERVED: ReadonlySet<number> = new Set([GATEWAY_ID, 65_534, 65_535, 4_294_967_295]);
const MAX_ID = 4_294_967_295;

/** Throws before the node's accounts are searched. */
export function checkName(name: string): void {
  if (/^\d+$/.test(name)) throw new AccountRefusedError("number", name, "it is a number, not a name");
  if (name === "root") throw new AccountRefusedError("root", name, "jobs never run as root");
}

/** Throws unless it is an ordinary account of that name. */
export function checkAccount(found: FileUser & { readonly name: string }, name: string, minUid: number): void {
  const { name: known, uid, gid, groups } = found;
  if (known !== name) throw new AccountRefusedError("name", name, `the node knows that account as ${quoted(known)}`);
  if (uid === 0) throw new AccountRefusedError("root", name, "it is an account of root (uid 0)");
  if (gid === 0 || groups.includes(0))
    throw new AccountRefusedError("root", name, "it is in the group of root (gid 0)");
  if (uid < minUid)
    throw new AccountRefusedError("system", name, `it is a system account (uid ${uid}, below --min-uid ${minUid})`);
  if (RESERVED.has(uid)) throw new AccountRefusedError("system", name, `uid ${uid} is reserved`);
}

/** Returns `null` unless the text is a uid or gid: decimal digits only, in range. */
export function parseId(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return null;
  const id = Number(text);
  return id <= MAX_ID ? id : null;
}

/** Returns `null` unless every word is an id. */
export function parseIds(words: readonly string[]): readonly number[] | null {
  const ids = words.map(parseId);
  return ids.every((id) => id !== null) ? ids : null;
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 64));
