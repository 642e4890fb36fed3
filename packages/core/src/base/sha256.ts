// SHA-256 (FIPS 180-4) of a text as UTF-8, in hex. The core has no libraries, and `apply` must compute the hash chain
// of the audit log. Audited actions are rare, so speed does not matter here; the state hash uses a function passed in.

/** The first 32 bits of the fractional parts of the roots of the first primes. */
const K = Int32Array.from(fractions(64, Math.cbrt));
const START = fractions(8, Math.sqrt);

const BLOCK = 64;

export function sha256(text: string): string {
  const bytes = padded(utf8(text));
  const state = Int32Array.from(START);
  for (let at = 0; at < bytes.length; at += BLOCK) digest(state, new DataView(bytes.buffer, at, BLOCK));
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function fractions(count: number, root: (n: number) => number): Uint32Array {
  const words: number[] = [];
  for (let n = 2; words.length < count; n += 1) {
    if (isPrime(n)) words.push((root(n) % 1) * 2 ** 32);
  }
  return Uint32Array.from(words);
}

function isPrime(n: number): boolean {
  for (let d = 2; d * d <= n; d += 1) if (n % d === 0) return false;
  return true;
}

/** Reused for every block. */
const w = new Int32Array(64);

function digest(state: Int32Array, block: DataView): void {
  for (let i = 0; i < 16; i += 1) w[i] = block.getInt32(i * 4);
  for (let i = 16; i < 64; i += 1) {
    const x = at(w, i - 15);
    const y = at(w, i - 2);
    const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
    const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
    w[i] = (at(w, i - 16) + s0 + at(w, i - 7) + s1) | 0;
  }
  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  let f = at(state, 5);
  let g = at(state, 6);
  let h = at(state, 7);
  for (let i = 0; i < 64; i += 1) {
    const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(K, i) + at(w, i)) | 0;
    const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  const words = [a, b, c, d, e, f, g, h];
  for (let i = 0; i < words.length; i += 1) state[i] = at(state, i) + (words[i] ?? 0);
}

const at = (words: Int32Array, i: number): number => words[i] as number;

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** Padding: a one bit, zeros, and the length in bits. */
function padded(bytes: Bytes): Uint8Array<ArrayBuffer> {
  const length = Math.ceil((bytes.length + 9) / BLOCK) * BLOCK;
  const all = new Uint8Array(length);
  all.set(bytes.buffer.subarray(0, bytes.length));
  all[bytes.length] = 0x80;
  const view = new DataView(all.buffer);
  view.setUint32(length - 8, Math.floor((bytes.length * 8) / 2 ** 32));
  view.setUint32(length - 4, (bytes.length * 8) >>> 0);
  return all;
}

interface Bytes {
  readonly buffer: Uint8Array;
  length: number;
}

/** A lone surrogate is encoded as U+FFFD, as in TextEncoder. */
function utf8(text: string): Bytes {
  const bytes: Bytes = { buffer: new Uint8Array(text.length * 3), length: 0 };
  for (let i = 0; i < text.length; i += 1) {
    const point = text.codePointAt(i) ?? 0;
    if (point > 0xffff) i += 1;
    put(bytes, point >= 0xd800 && point <= 0xdfff ? 0xfffd : point);
  }
  return bytes;
}

function put(bytes: Bytes, code: number): void {
  const { buffer } = bytes;
  const more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x1_0000 ? 2 : 3;
  buffer[bytes.length] = more === 0 ? code : (FIRST_BYTE[more] ?? 0) | (code >> (6 * more));
  for (let left = more - 1; left >= 0; left -= 1)
    buffer[bytes.length + more - left] = 0x80 | ((code >> (6 * left)) & 0x3f);
  bytes.length += 1 + more;
}

/** The number of continuation bytes. */
const FIRST_BYTE: readonly number[] = [0, 0xc0, 0xe0, 0xf0];
