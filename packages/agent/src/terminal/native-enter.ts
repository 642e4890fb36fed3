// The words of the native program (native/enter) that enters attempts with their own files. It becomes the user, keeps
// the parent-death signal, and applies the seccomp filters of the attempt's processes, which are read once and kept in
// the attempt's folder. Built where a compiler was available.

import { existsSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { HELPER_PATH } from "../base/executable.ts";
import { execFile } from "../base/programs.ts";
import type { ProcessOwner } from "./owner.ts";

interface NativeEntry {
  readonly pid: number;
  /** The status of that process, from /proc. */
  readonly status: string;
  /** Flags of namespaces. */
  readonly spaces: readonly string[];
  readonly owner: ProcessOwner | null;
  /** Where its filters are kept. */
  readonly filters: string;
}

/** Returns null when the program was not built; then standard tools are used. */
export function enterProgram(): string | null {
  const here = dirname(fileURLToPath(import.meta.url));
  // Next to the agent's program; from sources, with the built programs.
  const places = [here, join(here, "..", "..", "dist")].map((folder) => join(folder, ENTER));
  return places.find((file) => existsSync(file)) ?? null;
}

const ENTER = "lattice-enter";

/** Rejects when the filters cannot be read: a terminal must not have more rights than the processes inside. */
export async function nativeWords(program: string, entry: NativeEntry): Promise<readonly string[]> {
  const { pid, status, spaces, owner, filters } = entry;
  const filtered = filterCount(status) > filterCount(readFileSync("/proc/self/status", "utf8"));
  if (filtered && !existsSync(filters)) await saveFilters(program, pid, filters);
  const of = (name: string): string => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(status)?.[1] ?? "0";
  return [
    program,
    `--target=${pid}`,
    ...spaces,
    ...(owner === null ? [] : [`--setuid=${owner.uid}`, `--setgid=${owner.gid}`, `--groups=${owner.groups.join(",")}`]),
    ...[`--bounding=${of("CapBnd")}`, `--effective=${of("CapEff")}`],
    ...(of("NoNewPrivs") === "1" ? ["--no-new-privs"] : []),
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

function saveFilters(program: string, pid: number, file: string): Promise<void> {
  saved += 1;
  const partial = `${file}.${process.pid}.${saved}`;
  const how = { timeout: DEADLINE_MS, env: { PATH: HELPER_PATH } };
  return new Promise((resolve, reject) => {
    execFile(program, [`--target=${pid}`, `--save-filters=${partial}`], how, (error, _out, errors) => {
      if (error !== null) return reject(new Error(errors.trim() === "" ? error.message : errors.trim()));
      // Moved into place atomically, for concurrent entries.
      renameSync(partial, file);
      resolve();
    });
  });
}
