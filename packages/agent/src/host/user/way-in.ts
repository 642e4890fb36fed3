// Prepares the environment of the programs that enter an attempt and become its user. Root's have none of the job's
// variables: lattice-enter takes these from a descriptor and sets them as its last step.

import { isEnterProgram } from "../../base/enter-program.ts";
import { HELPER_PATH } from "../../base/executable.ts";

type Variables = Readonly<Record<string, string>>;

interface WayIn {
  /** Of the first program. */
  readonly environment: Variables;
  /** Prefix of the command. */
  readonly prefix: readonly string[];
  /** To be written to the descriptor; `null` when there is nothing to write. */
  readonly variables: Buffer | null;
}

/** `descriptor`: where the program finds the variables. Returns everything unchanged when there is nothing to enter. */
export function wayIn(environment: Variables, prefix: readonly string[], descriptor: number): WayIn {
  if (prefix.length === 0) return { environment, prefix, variables: null };
  if (!isEnterProgram(prefix)) return byTools(environment, prefix);
  const [program = "", ...words] = prefix;
  const fields = Object.entries(environment).map(([name, value]) => `${name}=${value}\0`);
  return {
    environment: { PATH: HELPER_PATH },
    prefix: [program, `--variables=${descriptor}`, ...words],
    variables: Buffer.from(fields.join("")),
  };
}

/**
 * The tools run as the job's own user. They use neither its PATH nor its libraries, which may be those of an image, and
 * a shell does not pass on IFS.
 */
function byTools(environment: Variables, prefix: readonly string[]): WayIn {
  const later = Object.entries(environment).filter(([name]) => OF_THE_JOB.test(name));
  const others = Object.entries(environment).filter(([name]) => !OF_THE_JOB.test(name));
  const given = later.map(([name, value]) => `${name}=${value}`);
  return {
    environment: { ...Object.fromEntries(others), PATH: HELPER_PATH },
    prefix: [...prefix, "/bin/sh", "-c", GIVE, "sh", ...given, "--"],
    variables: null,
  };
}

const OF_THE_JOB = /^(PATH|IFS|LD_[A-Z_]+)$/;
const GIVE = 'while [ "$1" != -- ]; do export "$1"; shift; done; shift; exec "$@"';
