// The way into an attempt: programs of root's that enter its namespaces and become its user. None of them may see what the
// job's owner chose (the loader's variables, where programs are looked for): they have a small PATH of their own,
// and whatever could change what they do is given to the command only when it is that user's.

import { splitEnvironment } from "./safe-environment.ts";

/** Where root's own programs are looked for, whoever starts them. */
export const HELPER_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface WayIn {
  readonly environment: Readonly<Record<string, string>>;
  /** Stands before the command. */
  readonly prefix: readonly string[];
}

/** With nothing to enter there is nobody to become: all stays as it is. */
export function wayIn(environment: Readonly<Record<string, string>>, prefix: readonly string[]): WayIn {
  if (prefix.length === 0) return { environment, prefix };
  const { PATH: path, ...others } = environment;
  const { safe, later } = splitEnvironment(others);
  const given = later.filter((entry) => CAN_BE_GIVEN.test(entry));
  const paths = path === undefined ? [] : [`PATH=${path}`];
  return {
    environment: { ...safe, PATH: HELPER_PATH },
    prefix: [...prefix, "/bin/sh", "-c", GIVE, "sh", ...given, ...paths, "--"],
  };
}

/** A shell has no names but these, and some of bash's own it may not change. */
const CAN_BE_GIVEN = /^(?!SHELLOPTS=|BASHOPTS=|BASH_(?!ENV=))[A-Za-z_][A-Za-z0-9_]*=/;

/** The search path is the last: nothing is looked for before the command itself. */
const GIVE = 'while [ "$1" != -- ]; do export "$1"; shift; done; shift; exec "$@"';
