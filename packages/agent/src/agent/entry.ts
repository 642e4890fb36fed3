// How attempts of this node get from root to their users: lattice-mounts, what it protects, and whether attempts have
// their own /tmp and /dev/shm.

import { dirname } from "node:path";
import type { Logger } from "pino";
import { mountsProgram, whyNoMounts } from "../base/mounts-program.ts";
import type { SoftwareOptions } from "../options/software.ts";
import type { AttemptEntry } from "../runtime/base/entry-plan.ts";
import { programFolder } from "../tasks/facilities.ts";

interface EntryPlace extends Pick<SoftwareOptions, "privateTmp" | "privateTmpBytes" | "userMapping"> {
  readonly isRoot: boolean;
  readonly protects: readonly string[];
  /** Folders and files of the node that jobs use. */
  readonly offers: readonly string[];
  readonly log: Logger;
}

interface OpenedEntry extends AttemptEntry {
  /** Why nothing can be mounted, or null. */
  readonly whyNoMounts: string | null;
}

/** Throws when the program is missing that takes jobs to their users, or when a required private /tmp is impossible. */
export function openEntry(place: EntryPlace): OpenedEntry {
  const { privateTmp, privateTmpBytes, userMapping, isRoot, protects, offers, log } = place;
  const program = mountsProgram();
  const changesUser = userMapping.kind !== "none";
  if (isRoot && program === null)
    throw new Error(
      "lattice-mounts was not built; an agent that is root needs it. Install gcc and libc6-dev, and build again",
    );
  const why = !isRoot || program === null ? "the agent does not run as root" : whyNoMounts(program);
  if (privateTmp === true && !changesUser)
    throw new Error("--private-tmp=yes is not possible: jobs run as the agent's own user (--user-mapping)");
  if (privateTmp === true && why !== null) throw new Error(`--private-tmp=yes is not possible: ${why}`);
  if (isRoot && why !== null) log.warn({ why }, "private /tmp and mounts unavailable: jobs cannot mount");
  const programs = programFolder();
  // An installation has its programs in node_modules/.bin.
  const installed = programs === "" ? [] : [dirname(dirname(programs))];
  return {
    program,
    protects,
    privateTmp: (privateTmp ?? true) && changesUser && why === null,
    privateTmpBytes,
    offers: [...offers, ...installed, dirname(process.execPath)],
    whyNoMounts: why,
  };
}
