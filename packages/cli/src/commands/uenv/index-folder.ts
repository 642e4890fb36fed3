// Writes the index of a directory registry: digest, size, metadata and optional signature of every
// `NAME_VERSION_TAG.squashfs`. Unchanged images are not read again.

import { execFile } from "node:child_process";
import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ProblemError } from "@lattice/wire";

interface Entry {
  readonly name: string;
  readonly digest: string;
  readonly size: number;
  readonly file: string;
  readonly mount: string;
  readonly views: readonly string[];
  readonly description: string;
  readonly signature: string;
  readonly changed: number;
}

const SUFFIX = ".squashfs";

export async function indexFolder(folder: string, keyFile: string | undefined): Promise<readonly Entry[]> {
  const key = keyFile === undefined ? null : createPrivateKey(await readFile(keyFile));
  const files = (await readdir(folder)).filter((file) => file.endsWith(SUFFIX)).sort((a, b) => (a < b ? -1 : 1));
  const before = await readBefore(join(folder, "index.json"));
  const entries: Entry[] = [];
  for (const file of files) entries.push(await entryOf(folder, file, key, before.get(file)));
  const path = join(folder, "index.json");
  await writeFile(`${path}.tmp`, `${JSON.stringify({ images: entries }, null, 1)}\n`);
  await rename(`${path}.tmp`, path);
  return entries;
}

async function entryOf(folder: string, file: string, key: KeyObject | null, before?: Entry): Promise<Entry> {
  const path = join(folder, file);
  const { size, mtimeMs: changed } = await stat(path);
  const same = before !== undefined && before.size === size && before.changed === changed;
  const digest = same ? before.digest : await digestOf(path);
  const signature =
    key === null ? (same ? before.signature : "") : sign(null, Buffer.from(digest), key).toString("base64");
  const meta = same ? before : await metaOf(path);
  const { mount, views, description } = meta;
  return { name: nameOf(file), digest, size, file, mount, views, description, signature, changed };
}

/** Converts prgenv-gnu_24.11_v1.squashfs to prgenv-gnu/24.11:v1. */
function nameOf(file: string): string {
  const [name, version, tag, ...rest] = file.slice(0, -SUFFIX.length).split("_");
  if (!name || !version || !tag || rest.length > 0) {
    throw new ProblemError("invalid_argument", {
      detail: `${file} is not named NAME_VERSION_TAG${SUFFIX}`,
      hint: "Rename it, for example to prgenv-gnu_24.11_v1.squashfs for prgenv-gnu/24.11:v1.",
    });
  }
  return `${name}/${version}:${tag}`;
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return `sha256:${hash.digest("hex")}`;
}

type Meta = Pick<Entry, "mount" | "views" | "description">;
const NO_META: Meta = { mount: "", views: [], description: "" };

/** Returns empty metadata without unsquashfs; nodes read it from the image later. */
async function metaOf(path: string): Promise<Meta> {
  const text = await new Promise<string>((resolve) => {
    execFile("unsquashfs", ["-cat", path, "meta/env.json"], { maxBuffer: 8 << 20 }, (error, stdout) =>
      resolve(error === null ? stdout : ""),
    );
  });
  try {
    const { mount = "", views = {}, description = "" } = JSON.parse(text) as Partial<Record<string, never>>;
    return { mount, views: Object.keys(views), description };
  } catch {
    return NO_META;
  }
}

async function readBefore(path: string): Promise<Map<string, Entry>> {
  try {
    const { images } = JSON.parse(await readFile(path, "utf8")) as { images: Entry[] };
    return new Map(images.map((entry) => [entry.file, entry]));
  } catch {
    return new Map();
  }
}
