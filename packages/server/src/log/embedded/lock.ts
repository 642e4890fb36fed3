// Allows one process per directory. The lock is the kernel's (flock), so it ends with the process in every case. Node
// has no flock; the `flock` program sets it on a descriptor that it shares with this process. A file with a process
// id was rejected: it is stale after kill -9, wrong in containers, and cannot be taken over without a race.

import { spawn } from "node:child_process";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LogError } from "../contract/replicated-log.ts";

/** A killed process may take a moment to release the lock. */
const TRIES = 4;
const PAUSE_MS = 150;

interface DirectoryLock {
  release(): Promise<void>;
}

export async function lockDirectory(dir: string): Promise<DirectoryLock> {
  const path = join(dir, "lock");
  const handle = await open(path, "a+", 0o600);
  try {
    for (let n = 1; !(await tryLock(handle)); n += 1) {
      if (n === TRIES) throw new LogError("unavailable", `${dir} is in use by another process${await holder(handle)}`);
      await sleep(PAUSE_MS);
    }
    await handle.truncate(0);
    await handle.appendFile(`${process.pid}\n`); // for the message above; the lock does not depend on it
  } catch (cause) {
    await handle.close();
    throw cause;
  }
  return { release: () => handle.close() };
}

function tryLock(handle: FileHandle): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn("flock", ["-n", "-x", "3"], { stdio: ["ignore", "ignore", "ignore", handle.fd] });
    child.once("error", (cause) =>
      reject(
        new LogError("unavailable", "the data directory cannot be locked: no `flock` program (util-linux)", { cause }),
      ),
    );
    child.once("exit", (code) => resolve(code === 0));
  });
}

async function holder(handle: FileHandle): Promise<string> {
  const content = Buffer.alloc(32);
  const { bytesRead } = await handle.read(content, 0, content.length, 0);
  const pid = content.toString("utf8", 0, bytesRead).trim();
  return pid === "" ? "" : ` (pid ${pid})`;
}
