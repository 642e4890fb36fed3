// Chooses how an agent acts on the folders of users: an agent that is root needs lattice-files and does not start without
// it; an agent whose jobs run as its own user acts directly.

import { builtBeside } from "../base/built-beside.ts";
import { directFiles } from "./direct-files.ts";
import { filesProgram } from "./files-program.ts";
import type { UserFiles } from "./user-files.ts";

const PROGRAM = "lattice-files";

interface FilesPlace {
  readonly isRoot: boolean;
  /** Jobs run as the agent's user: all without a mapping, those of root with --root-jobs. */
  readonly jobsAreRoot: boolean;
}

/** Throws when the program is required and was not built or cannot work here. */
export async function openUserFiles({ isRoot, jobsAreRoot }: FilesPlace): Promise<UserFiles> {
  if (!isRoot) return directFiles;
  const program = builtBeside(PROGRAM);
  if (program === null)
    throw new Error(
      `${PROGRAM} was not built; an agent that is root needs it. Install gcc and libc6-dev, and build again`,
    );
  const files = filesProgram(program, jobsAreRoot);
  await files.probe().catch((error: Error) => {
    throw new Error(`${PROGRAM} does not work on this node; it needs Linux 5.6 and /proc: ${error.message}`);
  });
  return files;
}
