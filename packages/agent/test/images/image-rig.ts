// Real SquashFS images and a registry that holds them, made for a test in a folder of its own.

import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface ImageRig {
  readonly folder: string;
  readonly keyFile: string;
  /** Makes an image out of these files and puts it into the index. */
  add(name: string, files: Readonly<Record<string, string>>, how?: AddHow): string;
  /** Bytes that are no image, under the digest they have. */
  addBytes(name: string, bytes: Uint8Array, how?: AddHow): string;
  /** Changes the bytes behind the index. */
  corrupt(name: string): void;
  close(): void;
}

export interface AddHow {
  readonly signed?: boolean;
  readonly size?: number;
}

interface Entry {
  readonly name: string;
  readonly digest: string;
  readonly size: number;
  readonly file: string;
  readonly signature: string;
}

export function imageRig(): ImageRig {
  const folder = mkdtempSync(join(tmpdir(), "lattice-registry-"));
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const keyFile = join(folder, "key.pem");
  writeFileSync(keyFile, publicKey.export({ type: "spki", format: "pem" }));
  const entries = new Map<string, Entry>();
  const write = (): void =>
    writeFileSync(join(folder, "index.json"), JSON.stringify({ images: [...entries.values()] }));
  write();

  function put(name: string, file: string, { signed = false, size }: AddHow): string {
    const bytes = readFileSync(join(folder, file));
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    const signature = signed ? signatureOf(digest, privateKey) : "";
    entries.set(name, { name, digest, size: size ?? bytes.length, file, signature });
    write();
    return digest;
  }

  const fileOf = (name: string): string => `${name.replace(/[/:]/g, "_")}.squashfs`;
  return {
    folder,
    keyFile,
    add(name, files, how = {}) {
      const tree = mkdtempSync(join(tmpdir(), "lattice-tree-"));
      chmodSync(tree, 0o755);
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(tree, dirname(path)), { recursive: true });
        writeFileSync(join(tree, path), text, { mode: path.startsWith("bin/") ? 0o755 : 0o644 });
      }
      const args = [tree, join(folder, fileOf(name)), "-noappend", "-quiet", "-no-progress", "-all-root"];
      execFileSync("mksquashfs", args, { stdio: "ignore" });
      rmSync(tree, { recursive: true, maxRetries: 9 });
      return put(name, fileOf(name), how);
    },
    addBytes(name, bytes, how = {}) {
      writeFileSync(join(folder, fileOf(name)), bytes);
      return put(name, fileOf(name), how);
    },
    corrupt(name) {
      const path = join(folder, fileOf(name));
      const bytes = readFileSync(path);
      bytes[200] = (bytes[200] ?? 0) ^ 0xff;
      writeFileSync(path, bytes);
    },
    close: () => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }),
  };
}

const signatureOf = (digest: string, key: KeyObject): string => sign(null, Buffer.from(digest), key).toString("base64");

/** An `env.json` with one view that changes variables in order. */
export const metaWith = (name: string, mount: string, views: Readonly<Record<string, object>>): string =>
  JSON.stringify({ name, mount, views });
