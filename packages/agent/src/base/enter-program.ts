// lattice-enter, the program that takes terminals and tasks of a root agent into attempts.

import { builtBeside } from "./built-beside.ts";

const ENTER = "lattice-enter";

/** Returns null when the program was not built. */
export const enterProgram = (): string | null => builtBeside(ENTER);

export const ENTER_MISSING = `${ENTER} was not built; an agent that is root needs it. Install gcc and libc6-dev, and build again`;

/** Adds that the program enters the working directory of its process; other words are returned unchanged. */
export function intoWorkdir(words: readonly string[]): readonly string[] {
  const [program = "", ...rest] = words;
  return isEnterProgram(words) ? [program, "--workdir", ...rest] : words;
}

/** Whether these words begin with the program, which takes the job's variables from a descriptor. */
export const isEnterProgram = (words: readonly string[]): boolean => words[0]?.endsWith(`/${ENTER}`) === true;

/** Removes the mounts of the process: the command runs in its networks and limits, and sees the files of the node. */
export const withoutMounts = (words: readonly string[]): readonly string[] =>
  words.filter((word) => word !== "--mount");
