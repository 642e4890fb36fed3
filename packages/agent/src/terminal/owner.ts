// The user and groups of an attempt's first process, from the kernel.

export interface ProcessOwner {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

/** Parses /proc/PID/status. Returns null for the agent's own user. */
export function ownerOf(status: string): ProcessOwner | null {
  const numbers = (field: string): number[] =>
    (new RegExp(`^${field}:\\s+(.*)$`, "m").exec(status)?.[1] ?? "").trim().split(/\s+/).filter(Boolean).map(Number);
  const [[uid], [gid]] = [numbers("Uid"), numbers("Gid")];
  if (uid === undefined || gid === undefined || uid === process.getuid?.()) return null;
  return { uid, gid, groups: numbers("Groups") };
}

/** For setpriv. */
export const groupWords = ({ gid, groups }: ProcessOwner): readonly string[] => [
  `--regid=${gid}`,
  groups.length === 0 ? "--clear-groups" : `--groups=${groups.join(",")}`,
];
