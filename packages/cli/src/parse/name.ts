// Takes the name of a command's object from an argument or from --name.

import { ProblemError } from "@lattice/wire";

export function requireName(what: string, word: string | undefined, flag: string | undefined): string {
  const name = flag ?? word;
  if (name === undefined || name === "") {
    throw new ProblemError("invalid_argument", {
      detail: `the ${what} is missing`,
      hint: "Give the name as an argument, or as --name=NAME.",
    });
  }
  if (word !== undefined && flag !== undefined && word !== flag) {
    throw new ProblemError("invalid_argument", {
      detail: `the argument and --name differ: ${word} and ${flag}`,
      hint: "Give the name once.",
    });
  }
  return name;
}
