// The name of the thing that a command is about: as an argument, or with --name.

import { ProblemError } from "@lattice/wire";

export function requireName(what: string, word: string | undefined, flag: string | undefined): string {
  const name = flag ?? word;
  if (name === undefined || name === "") {
    throw new ProblemError("invalid_argument", {
      detail: `no ${what} is named`,
      hint: "Give its name, or --name=NAME.",
    });
  }
  if (word !== undefined && flag !== undefined && word !== flag) {
    throw new ProblemError("invalid_argument", {
      detail: `two names are given: ${word} and ${flag}`,
      hint: "Keep one of them.",
    });
  }
  return name;
}
