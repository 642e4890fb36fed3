// The words of the native program (native/enter) that takes terminals and tasks into attempts. It becomes the user, keeps
// the parent-death signal, and applies the seccomp filters of the attempt's processes, which are read once and kept in
// the attempt's folder. It sets the job's variables last, which it takes from a descriptor.

import { existsSync, readFileSync, renameSync } from "node:fs";
import { execFile, HELPER_ENVIRONMENT } from "../base/programs.ts";
import type { FileUser } from "../files/user-files.ts";

export interface NativeEntry {
  readonly pid: number;
  /** The status of that process, from /proc. */
  readonly status: string;
  /** Flags of namespaces. */
  readonly spaces: readonly string[];
  readonly owner: FileUser | null;
  /** Where its filters are kept; `null` when they are not applied. */
  readonly filters: string | null;
}

/** Rejects when the filters cannot be read: a terminal must not have more rights than the processes inside. */
export async function nativeWords(program: string, entry: NativeEntry): Promise<readonly string[]> {
  const { pid, status, spaces, owner, filters } = entry;
  const user = owner === null ? [] : [`--setuid=${owner.uid}`];
  const place = [`--target=${pid}`, ...user];
  const filtered = filters !== null && filterCount(status) > filterCount(readFileSync("/proc/self/status", "utf8"));
  if (filtered && !existsSync(filters)) await saveFilters(program, place, filters);
  return [
    program,
    ...place,
    ...spaces,
    ...(owner === null ? [] : [`--setgid=${owner.gid}`, `--groups=${owner.groups.join(",")}`]),
    ...(filtered ? [`--filters=${filters}`] : []),
    "--",
  ];
}

/** Older kernels report only whether there are filters. */
function filterCount(status: string): number {
  const counted = /^Seccomp_filters:\s+(\d+)/m.exec(status)?.[1];
  return counted === undefined ? Number(/^Seccomp:\s+2/m.test(status)) : Number(counted);
}

const DEADLINE_MS = 10_000;
let saved = 0;

function saveFilters(program: string, place: readonly string[], file: string): Promise<void> {
  saved += 1;
  const partial = `${file}.${process.pid}.${saved}`;
  const how = { timeout: DEADLINE_MS, env: HELPER_ENVIRONMENT };
  return new Promise((resolve, reject) => {
    execFile(program, [...place, `--save-filters=${partial}`], how, (error, _out, errors) => {
      if (error !== null) return reject(new Error(errors.trim() === "" ? error.message : errors.trim()));
      // Moved into place atomically, for concurrent entries.
      renameSync(partial, file);
      resolve();
    });
  });
}
