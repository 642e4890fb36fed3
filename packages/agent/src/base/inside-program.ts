// lattice-inside, the program that acts for the agent inside an attempt, with the attempt's own files.

import { builtBeside } from "./built-beside.ts";

/** Returns null where it was not built. */
export const insideProgram = (): string | null => builtBeside("lattice-inside");
