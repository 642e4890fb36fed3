// The last user of each GPU since it was zeroed, in a file, so that an agent killed between a job's end and the
// clearing forgets nothing. Written before a job may start; when the file cannot be written, work continues and the
// record stays in memory.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Logger } from "pino";
import type { GpuUser, LastUser } from "./decide.ts";

export interface GpuLedger {
  last(uuid: string): LastUser;
  /** Updates all GPUs in one write. */
  used(uuids: readonly string[], by: GpuUser): void;
  cleared(uuid: string): void;
}

export function openGpuOwners(path: string, log: Logger): GpuLedger {
  const found = read(path);
  const users = new Map<string, GpuUser>(found ?? []);
  /** GPUs zeroed since the start, when the file was unreadable. */
  const known = new Set<string>();
  if (found === null) log.warn({ path }, "GPU owner file unreadable: every GPU is cleared before its next user");

  function save(): void {
    try {
      writeFileSync(`${path}.tmp`, JSON.stringify(Object.fromEntries(users)), { mode: 0o600 });
      renameSync(`${path}.tmp`, path);
    } catch (error) {
      log.error({ path, error: (error as Error).message }, "GPU owner file cannot be written");
    }
  }

  return {
    last: (uuid) => users.get(uuid) ?? (found !== null || known.has(uuid) ? "clean" : "unknown"),
    used(uuids, by) {
      const news = uuids.filter((uuid) => !isSame(users.get(uuid), by));
      for (const uuid of news) users.set(uuid, by);
      if (news.length > 0) save();
    },
    cleared(uuid) {
      known.add(uuid);
      if (users.delete(uuid)) save();
    },
  };
}

const isSame = (a: GpuUser | undefined, b: GpuUser): boolean =>
  a !== undefined && a.tenant === b.tenant && a.user === b.user && a.sensitive === b.sensitive;

/** Returns null when the file exists and cannot be read. */
function read(path: string): readonly (readonly [string, GpuUser])[] | null {
  try {
    return Object.entries(JSON.parse(readFileSync(path, "utf8")) as Record<string, GpuUser>);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? [] : null;
  }
}
