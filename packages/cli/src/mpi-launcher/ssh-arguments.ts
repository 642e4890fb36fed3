// Parses the arguments that mpiexec passes to ssh: options, a host, and a command, whose words the remote shell
// joins again.

import { ProblemError } from "@lattice/wire";

interface RemoteCommand {
  readonly host: string;
  /** The command line for a shell. */
  readonly line: string;
}

/** The options of ssh that take the next word as value. */
const WITH_VALUE = new Set("BbcDEeFIiJLlmOopQRSWw");

const USAGE = "mpiexec calls this program: mpiexec -launcher ssh -launcher-exec lattice-mpi-launcher ...";

/** Throws a problem when the host or the command is missing. */
export function parseSshArguments(words: readonly string[]): RemoteCommand {
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? "";
    if (word === "--") {
      at += 1;
      break;
    }
    if (!word.startsWith("-")) break;
    at += word.length === 2 && WITH_VALUE.has(word.charAt(1)) ? 2 : 1;
  }
  const [host = "", ...command] = words.slice(at);
  if (host === "") throw invalid("no host is named");
  if (command.length === 0) throw invalid("no command is given");
  // `user@` has no meaning: the task runs as the job's user.
  return { host: host.slice(host.lastIndexOf("@") + 1), line: command.join(" ") };
}

const invalid = (detail: string): ProblemError => new ProblemError("invalid_argument", { detail, hint: USAGE });
