// A small disk for each server: a file with a file system, mounted by a loop device. It can be filled to the last
// block, and slowed by limiting writes per second of a control group. Without such a control group the file system is
// frozen most of the time, which also delays every write.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "../../harness/eventually.ts";
import { command } from "./command.ts";

export interface Disk {
  /** The mount point. */
  readonly path: string;
  fill(): Promise<void>;
  empty(): Promise<void>;
  /** From now on writes of these processes and their children are delayed. Returns the method. */
  slow(pids: readonly number[]): Promise<string>;
  fast(): Promise<void>;
}

/** etcd reserves two segments of 64 MB at start. */
const SIZE = "400M";
const WRITES_PER_SECOND = 12;
const FROZEN_MS = 250;
const THAWED_MS = 60;
const THROTTLES = "/sys/fs/cgroup/blkio";

export async function createDisk(folder: string, name: string): Promise<Disk> {
  const image = join(folder, `${name}.img`);
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  await command(["truncate", "-s", SIZE, image]);
  await command(["mkfs.ext4", "-q", "-F", image]);
  await command(["mount", "-o", "loop", image, path]);
  const filler = join(path, "filler");
  let fast: () => Promise<void> = async () => {};
  return {
    path,
    async fill() {
      const free = Number((await command(["stat", "-f", "-c", "%a", path])).toString().trim());
      const size = Number((await command(["stat", "-f", "-c", "%S", path])).toString().trim());
      await command(["fallocate", "-l", String(free * size), filler]).catch(() => undefined);
      // The rest, after the file system has taken its share for the filler itself.
      await command(["sh", "-c", `cat /dev/zero >> ${filler} 2>&- ; sync -f ${path}`]).catch(() => undefined);
    },
    empty: async () => void (await command(["rm", "-f", filler])),
    async slow(pids) {
      const device = (await command(["findmnt", "-n", "-o", "MAJ:MIN", path])).toString().trim();
      const group = join(THROTTLES, `lattice-chaos-${name}-${process.pid}`);
      if (!throttle(group, device)) {
        fast = freezing(path);
        return "the file system is frozen most of the time";
      }
      for (const pid of pids) move(group, pid);
      fast = async () => unthrottle(group, device);
      return `${WRITES_PER_SECOND} writes a second`;
    },
    fast: () => fast(),
  };
}

export async function removeDisk(path: string): Promise<void> {
  await command(["umount", "-l", path]).catch(() => undefined);
}

function throttle(group: string, device: string): boolean {
  if (!existsSync(join(THROTTLES, "blkio.throttle.write_iops_device"))) return false;
  try {
    mkdirSync(group, { recursive: true });
    writeFileSync(join(group, "blkio.throttle.write_iops_device"), `${device} ${WRITES_PER_SECOND}`);
    return true;
  } catch {
    return false;
  }
}

function unthrottle(group: string, device: string): void {
  writeFileSync(join(group, "blkio.throttle.write_iops_device"), `${device} 0`);
  for (const pid of readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean)) {
    move(THROTTLES, Number(pid));
  }
  try {
    rmdirSync(group);
  } catch {
    // An exiting process still counts; the next run removes the group.
  }
}

function move(group: string, pid: number): void {
  try {
    writeFileSync(join(group, "cgroup.procs"), String(pid));
  } catch {
    // It has ended meanwhile.
  }
}

function freezing(path: string): () => Promise<void> {
  let stop = false;
  const turning = (async () => {
    while (!stop) {
      await command(["fsfreeze", "-f", path]);
      await sleep(FROZEN_MS);
      await command(["fsfreeze", "-u", path]);
      await sleep(THAWED_MS);
    }
  })();
  return async () => {
    stop = true;
    await turning;
  };
}
