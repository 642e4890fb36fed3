// Prepares the environment of root's programs that enter an attempt and become its user. They must not see variables
// of the job's owner (loader variables, PATH): they get a small PATH, and the job's variables are exported only after
// the change of user.

import { HELPER_PATH } from "../../base/executable.ts";
import { splitEnvironment } from "./safe-environment.ts";

interface WayIn {
  readonly environment: Readonly<Record<string, string>>;
  /** Prefix of the command. */
  readonly prefix: readonly string[];
}

/** Returns everything unchanged when there is nothing to enter. */
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

/** Valid shell names, except some that bash reserves. */
const CAN_BE_GIVEN = /^(?!SHELLOPTS=|BASHOPTS=|BASH_(?!ENV=))[A-Za-z_][A-Za-z0-9_]*=/;

/** PATH is set last, so that earlier lookups do not use it. */
const GIVE = 'while [ "$1" != -- ]; do export "$1"; shift; done; shift; exec "$@"';
