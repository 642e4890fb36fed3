// User and group ids by name, from the passwd and group files of this machine: Slurm shows ids, Lattice stores names.
// The files are read when a column needs them.

import { readFileSync } from "node:fs";

export interface HostUser {
  readonly uid: string;
  readonly gid: string;
  readonly group: string;
}

const UNKNOWN: HostUser = { uid: "N/A", gid: "N/A", group: "N/A" };

const linesOf = (path: string): readonly (readonly string[])[] => {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .map((line) => line.split(":"));
  } catch {
    return [];
  }
};

export function hostUsers(passwd = "/etc/passwd", groups = "/etc/group"): (name: string) => HostUser {
  let known: ReadonlyMap<string, HostUser> | null = null;
  return (name) => {
    known ??= read(passwd, groups);
    return known.get(name) ?? UNKNOWN;
  };
}

function read(passwd: string, groups: string): ReadonlyMap<string, HostUser> {
  const groupOf = new Map(linesOf(groups).map(([name = "", , gid = ""]) => [gid, name]));
  return new Map(
    linesOf(passwd).flatMap(([name = "", , uid = "", gid = ""]) =>
      name === "" ? [] : [[name, { uid, gid, group: groupOf.get(gid) ?? gid }] as const],
    ),
  );
}
