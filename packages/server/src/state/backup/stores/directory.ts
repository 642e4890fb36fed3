// Backups in a directory. A new one is written under a hidden name and linked under its own when it is durable, so
// that it never replaces another.

import { createReadStream } from "node:fs";
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { asBackupError } from "../format/backup-error.ts";
import { checksumName, checksumText, parseChecksum, timeOfName } from "../format/format.ts";
import { readBackupMetadata } from "../format/read.ts";
import { type BackupStore, newestFirst, type StoredBackup } from "../format/store.ts";

const SPOOL = ".being-written";

export function directoryStore(dir: string): BackupStore {
  const spoolDir = join(dir, SPOOL);
  const describe = async (name: string): Promise<StoredBackup> => {
    const path = join(dir, name);
    const { size } = await stat(path);
    return { name, source: path, bytes: size, createdAtMs: timeOfName(name) ?? 0 };
  };
  const checksum = async (name: string): Promise<string | null> =>
    parseChecksum(await readFile(join(dir, checksumName(name)), "utf8").catch(() => ""));

  return {
    place: dir,
    spoolDir,
    async list() {
      const names = await readdir(dir).catch((cause: unknown) => {
        const error = asBackupError(cause, `listing ${dir}`);
        if (error.code === "missing") return [];
        throw error;
      });
      const backups = names.filter((name) => timeOfName(name) !== null);
      return (await Promise.all(backups.map(describe))).sort(newestFirst);
    },
    metadata: (name) => readBackupMetadata(createReadStream(join(dir, name))),
    checksum,
    has: (name) =>
      stat(join(dir, name)).then(
        () => true,
        () => false,
      ),
    async put(written, name) {
      try {
        const beside = join(spoolDir, checksumName(name));
        await writeDurably(beside, checksumText(written.sha256, name));
        await link(written.path, join(dir, name));
        await rename(beside, join(dir, checksumName(name)));
        await rm(written.path, { force: true });
        await syncDir(dir);
        return await describe(name);
      } catch (cause) {
        throw asBackupError(cause, `writing ${join(dir, name)}`);
      }
    },
    async fetch(name) {
      const path = join(dir, name);
      await stat(path).catch((cause: unknown) => {
        throw asBackupError(cause, `opening ${path}`);
      });
      return { path, sha256: await checksum(name), done: async () => undefined };
    },
    async remove(name) {
      await rm(join(dir, name), { force: true });
      await rm(join(dir, checksumName(name)), { force: true });
    },
  };
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDir(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
