// Chooses how an agent acts on the folders of users: an agent that is root needs lattice-files and does not start without
// it; an agent whose jobs run as its own user acts directly.

import { builtBeside } from "../base/built-beside.ts";
import { directFiles } from "./direct-files.ts";
import { filesProgram } from "./files-program.ts";
import type { UserFiles } from "./user-files.ts";

const PROGRAM = "lattice-files";

/** Throws when the program is required and was not built. */
export function openUserFiles(isRoot: boolean): UserFiles {
  if (!isRoot) return directFiles;
  const program = builtBeside(PROGRAM);
  if (program !== null) return filesProgram(program);
  throw new Error(
    `${PROGRAM} was not built; an agent that is root needs it. Install gcc and libc6-dev, and build again`,
  );
}
