// The small program that is the way into attempts with files of their own (native/enter), in words. It becomes the user, keeps
// the signal of its parent's death, and takes on the seccomp filters that the attempt's processes are under, which are
// read from one of them once and kept beside the attempt. Built where a compiler was at hand.

import { execFile } from "node:child_process";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { HELPER_PATH } from "../runtime/user/way-in.ts";
import type { Owner } from "./owner.ts";

export interface NativeEntry {
  readonly pid: number;
  /** Of that process, from /proc. */
  readonly status: string;
  /** Flags of namespaces. */
  readonly spaces: readonly string[];
  readonly owner: Owner | null;
  /** Where its filters are kept. */
  readonly filters: string;
}

/** Null: there is no such program here, and others have to do. */
export function enterProgram(): string | null {
  const here = dirname(fileURLToPath(import.meta.url));
  // Beside the agent's program; or this is a source file, and it is with the built programs.
  const places = [here, join(here, "..", "..", "dist")].map((folder) => join(folder, ENTER));
  return places.find((file) => existsSync(file)) ?? null;
}

const ENTER = "lattice-enter";

/** Rejects, in words, when its filters cannot be had: nobody is to enter with more rights than those inside. */
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

/** Older kernels tell only that there are some. */
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
      // Whole, for whoever enters at the same time.
      renameSync(partial, file);
      resolve();
    });
  });
}
