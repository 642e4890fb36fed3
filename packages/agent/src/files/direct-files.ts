// File operations of an agent whose jobs run as its own user: there is no boundary between them to guard, and no helper
// is needed. An agent that runs jobs of other users never uses this.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import {
  access,
  type FileHandle,
  lstat,
  mkdir,
  open,
  opendir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  writeFile,
} from "node:fs/promises";
import { endianness } from "node:os";
import { delimiter, join } from "node:path";
import { FileError, type OwnedFolder, SEARCH, type TreeSize, type UserFiles } from "./user-files.ts";

export const directFiles: UserFiles = {
  makeOwned: ({ base, parts, mode }: OwnedFolder) =>
    asFileError(async () => void (await mkdir(join(base, ...parts), { recursive: true, mode }))),
  make: (path) => asFileError(async () => void (await mkdir(path, { recursive: true }))),
  reach: (path) =>
    asFileError(async () => {
      if (!(await stat(path)).isDirectory()) throw new FileError("ENOTDIR", `${path}: not a directory`);
      await access(path, constants.R_OK | constants.X_OK);
    }),
  read: (path, _user, maxBytes) =>
    asFileError(async () => {
      const bytes = await head(path, maxBytes + 1);
      if (bytes.length > maxBytes) throw new FileError("EFBIG", `${path}: larger than ${maxBytes} bytes`);
      return bytes;
    }),
  size: (path, _user, maxEntries) => asFileError(() => treeSize(path, maxEntries)),
  search: (path, text) =>
    asFileError(async () => {
      const bytes = await head(path, SEARCH.within);
      const at = bytes.indexOf(text, 0, "latin1");
      return at < 0 ? null : bytes.subarray(at, at + SEARCH.bytes);
    }),
  environ: (pid) => asFileError(() => readFile(`/proc/${pid}/environ`)),
  io: async (pids) => {
    const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/io`, "latin1").catch(() => "")));
    const all = (name: string): number =>
      texts.reduce((sum, text) => sum + Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(text)?.[1] ?? 0), 0);
    return { readBytes: all("read_bytes"), writtenBytes: all("write_bytes") };
  },
  commandFor: () => [],
  head: (path, _user, maxBytes) => asFileError(() => head(path, maxBytes)),
  put: (folder, name, text) =>
    asFileError(async () => {
      const partial = join(folder, `.${randomBytes(8).toString("hex")}`);
      await writeFile(partial, text, { flag: "wx", mode: 0o644 });
      await rename(partial, join(folder, name)).catch(async (error: Error) => {
        await unlink(partial);
        throw error;
      });
    }),
  drop: (folder, name) => asFileError(() => rm(join(folder, name), { force: true })),
  poke: (path, numbers) => asFileError(() => poke(path, numbers)),
  missingProgram: async (searchPath, names) => {
    for (const name of names) {
      const found = searchPath.split(delimiter).map((folder) =>
        access(join(folder, name), constants.X_OK).then(
          () => true,
          () => false,
        ),
      );
      if (!(await Promise.all(found)).includes(true)) return name;
    }
    return null;
  },
  prune: ({ base, parts }, { below, kept }) =>
    asFileError(async () => {
      const folder = join(base, ...parts);
      for (const name of await readdir(folder).catch(() => [])) {
        const isOutdated = /^[1-9]\d{0,9}$/.test(name) && (below === null || Number(name) < below);
        if (isOutdated && !kept.includes(Number(name))) await rm(join(folder, name), { recursive: true, force: true });
      }
      // Fails unless it is an empty folder.
      if (below === null) await rmdir(folder).catch(() => undefined);
    }),
  clear: (base, name) => asFileError(() => rm(join(base, name), { recursive: true, force: true })),
  close: () => undefined,
};

const head = (path: string, maxBytes: number): Promise<Buffer> =>
  onRegular(path, constants.O_RDONLY, async (file) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return buffer.subarray(0, bytesRead);
  });

const poke = (path: string, numbers: Parameters<UserFiles["poke"]>[1]): Promise<void> =>
  onRegular(path, constants.O_WRONLY | constants.O_NOFOLLOW, async (file) => {
    for (const [offset, value] of numbers) {
      const word = Buffer.alloc(4);
      if (endianness() === "LE") word.writeUInt32LE(value);
      else word.writeUInt32BE(value);
      await file.write(word, 0, 4, offset);
    }
  });

async function onRegular<T>(path: string, access: number, act: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, access | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new FileError("EINVAL", `${path}: not a file`);
    return await act(file);
  } finally {
    await file.close();
  }
}

async function treeSize(folder: string, maxEntries: number): Promise<TreeSize> {
  const waiting = [folder];
  let left = maxEntries;
  let bytes = 0;
  let isWhole = true;
  for (let next = waiting.pop(); next !== undefined && left > 0; next = waiting.pop()) {
    try {
      for await (const entry of await opendir(next)) {
        left -= 1;
        if (entry.isDirectory()) waiting.push(join(next, entry.name));
        else if (entry.isFile())
          bytes += await lstat(join(next, entry.name)).then(
            ({ size }) => size,
            () => 0,
          );
        if (left === 0) break;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") isWhole = false;
    }
  }
  return { bytes, isWhole };
}

async function asFileError<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError((error as NodeJS.ErrnoException).code ?? "EIO", (error as Error).message);
  }
}
