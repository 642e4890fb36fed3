// Whose process an attempt's first one is: its user and all of its groups, as the kernel has them.

export interface Owner {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

/** From /proc/PID/status. Null: it is the agent's own user. */
export function ownerOf(status: string): Owner | null {
  const numbers = (field: string): number[] =>
    (new RegExp(`^${field}:\\s+(.*)$`, "m").exec(status)?.[1] ?? "").trim().split(/\s+/).filter(Boolean).map(Number);
  const [[uid], [gid]] = [numbers("Uid"), numbers("Gid")];
  if (uid === undefined || gid === undefined || uid === process.getuid?.()) return null;
  return { uid, gid, groups: numbers("Groups") };
}

/** For setpriv. */
export const groupWords = ({ gid, groups }: Owner): readonly string[] => [
  `--regid=${gid}`,
  groups.length === 0 ? "--clear-groups" : `--groups=${groups.join(",")}`,
];
