// The subset of tar that a backup needs: plain files with short names in the POSIX ustar format. Reading is strict:
// anything else is an error.

import { BackupError } from "./backup-error.ts";

const BLOCK = 512;
const MAX_NAME_BYTES = 100;
/** Eleven octal digits. */
const MAX_SIZE = 8 ** 11 - 1;

export interface TarFile {
  readonly name: string;
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Yields the bytes of an archive of these files. A file of another length is an error. */
export async function* writeTar(files: Iterable<TarFile>, atMs: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (const file of files) {
    yield header(file.name, file.bytes, atMs);
    let written = 0;
    for await (const chunk of file.content) {
      written += chunk.byteLength;
      yield chunk;
    }
    if (written !== file.bytes) throw new Error(`${file.name} has ${written} bytes where ${file.bytes} were expected`);
    yield Buffer.alloc(padding(file.bytes));
  }
  yield Buffer.alloc(2 * BLOCK);
}

export interface TarEntry {
  readonly name: string;
  readonly bytes: number;
  /** Must be read before the next entry; reading again continues where it stopped. */
  readonly content: AsyncIterable<Buffer>;
}

export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, undefined> {
  const input = takeFrom(source);
  for (;;) {
    const block = await input.exactly(BLOCK);
    if (block.every((byte) => byte === 0)) return input.drain();
    const { name, bytes } = parseHeader(block);
    let left = bytes;
    const content = async function* (): AsyncGenerator<Buffer, void, undefined> {
      while (left > 0) {
        const chunk = await input.upTo(left);
        left -= chunk.length;
        yield chunk;
      }
    };
    yield { name, bytes, content: { [Symbol.asyncIterator]: content } };
    while (left > 0) left -= (await input.upTo(left)).length;
    await input.exactly(padding(bytes));
  }
}

const padding = (bytes: number): number => (BLOCK - (bytes % BLOCK)) % BLOCK;

function header(name: string, bytes: number, atMs: number): Buffer {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES || bytes > MAX_SIZE) throw new Error(`${name} does not fit into a tar`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  };
  block.write(name, 0, "utf8");
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  octal(Math.floor(atMs / 1000), 136, 12);
  block.write("0", 156, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.write(`${checksumOf(block).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

function parseHeader(block: Buffer): { readonly name: string; readonly bytes: number } {
  const text = (from: number, length: number): string =>
    block
      .toString("utf8", from, from + length)
      .replace(/\0.*$/s, "")
      .trim();
  const stated = Number.parseInt(text(148, 8), 8);
  if (text(257, 5) !== "ustar" || stated !== checksumOf(block)) throw notTar();
  const bytes = Number.parseInt(text(124, 12), 8);
  if (text(156, 1) !== "0" || !Number.isSafeInteger(bytes) || bytes < 0) throw notTar();
  return { name: text(0, MAX_NAME_BYTES), bytes };
}

/** The sum of all bytes, with its own field counted as spaces. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20;
  for (const [at, byte] of block.entries()) if (at < 148 || at >= 156) sum += byte;
  return sum;
}

const notTar = (): BackupError => new BackupError("not_a_backup", "it is not a tar archive of a backup");

/** Returns bytes in requested portions, independent of the chunks of the source. */
function takeFrom(source: AsyncIterable<Uint8Array>) {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);

  const fill = async (): Promise<void> => {
    while (rest.length === 0) {
      const { value, done } = await chunks.next();
      if (done === true) throw new BackupError("torn", "it is truncated");
      rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  };
  const upTo = async (limit: number): Promise<Buffer> => {
    await fill();
    const taken = rest.subarray(0, limit);
    rest = rest.subarray(taken.length);
    return taken;
  };
  return {
    upTo,
    async exactly(bytes: number): Promise<Buffer> {
      const parts: Buffer[] = [];
      for (let left = bytes; left > 0; ) {
        const part = await upTo(left);
        parts.push(part);
        left -= part.length;
      }
      return Buffer.concat(parts);
    },
    /** Reads to the end, so that a checksum behind the data is verified. */
    async drain(): Promise<void> {
      while ((await chunks.next()).done !== true);
    },
  };
}
