// Variables that no env file can hold: values with line ends, such as keys, and odd names. podman takes them from its
// store of secrets, which only root can read, so no value is ever on a command line.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PrologueError } from "../../base/prologue-error.ts";
import { makeOwnFolderNow, removeOwnNow } from "../../files/own-tree.ts";
import { nameOf } from "../prologue/attempt-holdings.ts";
import { CALL_TIMEOUT_MS, type ContainerStore, call } from "./podman.ts";

export interface SecretVariable {
  readonly secret: string;
  readonly variable: string;
}

/** Names the secrets of an attempt before they exist, so that an interrupted start leaves none behind. */
const noteOf = ({ folder }: ContainerStore, key: string): string => join(folder, NOTES, key);
const NOTES = "secrets";

export async function makeSecrets(
  store: ContainerStore,
  key: string,
  variables: readonly (readonly [name: string, value: string])[],
): Promise<readonly SecretVariable[]> {
  if (variables.length === 0) return [];
  const unfit = variables.find(([name]) => /[\s,"]/.test(name));
  if (unfit !== undefined)
    throw new PrologueError("container", `podman cannot set the variable ${JSON.stringify(unfit[0])}`);
  const named = variables.map(([variable, value], n) => ({ secret: `${nameOf(key)}-${n}`, variable, value }));
  makeOwnFolderNow(join(store.folder, NOTES), 0o700);
  writeFileSync(noteOf(store, key), named.map(({ secret }) => `${secret}\n`).join(""), { mode: 0o600 });
  for (const { secret, variable, value } of named) {
    await remove(store, secret);
    // podman reads standard input from pipes only, and Node's pipes are sockets.
    const file = join(store.folder, `.value-${secret}`);
    writeFileSync(file, value, { mode: 0o600 });
    const words = ["secret", "create", secret, file];
    const made = await call(store, words, CALL_TIMEOUT_MS, deadline()).finally(() => removeOwnNow(file));
    if (made.code !== 0) throw new PrologueError("container", `the variable ${variable}: ${made.stderr.trim()}`);
  }
  return named.map(({ secret, variable }) => ({ secret, variable }));
}

/** Repeating it is harmless. */
export async function removeSecrets(store: ContainerStore, key: string): Promise<void> {
  const note = noteOf(store, key);
  if (!existsSync(note)) return;
  for (const secret of readFileSync(note, "utf8").split("\n")) if (secret !== "") await remove(store, secret);
  removeOwnNow(note);
}

/** Returns the attempts that have secrets in the store. */
export function attemptsWithSecrets({ folder }: ContainerStore): readonly string[] {
  const notes = join(folder, NOTES);
  return existsSync(notes) ? readdirSync(notes) : [];
}

const deadline = (): AbortSignal => AbortSignal.timeout(CALL_TIMEOUT_MS);

async function remove(store: ContainerStore, secret: string): Promise<void> {
  await call(store, ["secret", "rm", secret], CALL_TIMEOUT_MS, deadline());
}
