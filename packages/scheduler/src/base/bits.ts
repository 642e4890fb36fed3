// Sets of nodes as bits, 32 to a word. Combining sets word by word is much faster than node by node on a large machine.

export const wordsFor = (size: number): number => (size + 31) >>> 5;

/** Returns the bits of these nodes; remembered, since lists of nodes outlive cycles and never change. */
export function bitsOf(nodes: readonly number[], size: number): Uint32Array {
  const known = remembered.get(nodes);
  if (known?.length === wordsFor(size)) return known;
  const bits = new Uint32Array(wordsFor(size));
  for (let i = 0; i < nodes.length; i += 1) {
    const node = nodes[i] as number;
    bits[node >>> 5] = (bits[node >>> 5] as number) | (1 << (node & 31));
  }
  remembered.set(nodes, bits);
  return bits;
}

const remembered = new WeakMap<readonly number[], Uint32Array>();

export function clearAll(bits: Uint32Array, others: Uint32Array): void {
  for (let word = 0; word < bits.length; word += 1) bits[word] = (bits[word] as number) & ~(others[word] as number);
}

export function keepOnly(bits: Uint32Array, others: Uint32Array): void {
  for (let word = 0; word < bits.length; word += 1) bits[word] = (bits[word] as number) & (others[word] as number);
}

/** Removes the closed bits and those not in `only`; returns how many are left. */
export function keepOpen(bits: Uint32Array, closed: Uint32Array, only: Uint32Array | null): number {
  let left = 0;
  for (let word = 0; word < bits.length; word += 1) {
    const open = (bits[word] as number) & ~(closed[word] as number) & (only === null ? -1 : (only[word] as number));
    bits[word] = open;
    left += ones(open);
  }
  return left;
}

export function intersects(some: Uint32Array, others: Uint32Array): boolean {
  for (let word = 0; word < some.length; word += 1)
    if (((some[word] as number) & (others[word] as number)) !== 0) return true;
  return false;
}

export function isSubset(some: Uint32Array, all: Uint32Array): boolean {
  for (let word = 0; word < some.length; word += 1)
    if (((some[word] as number) & ~(all[word] as number)) !== 0) return false;
  return true;
}

export function countBits(bits: Uint32Array): number {
  let sum = 0;
  for (let word = 0; word < bits.length; word += 1) sum += ones(bits[word] as number);
  return sum;
}

export function forEachBit(bits: Uint32Array, visit: (node: number) => void): void {
  for (let word = 0; word < bits.length; word += 1) {
    for (let left = bits[word] as number; left !== 0; left &= left - 1) {
      visit((word << 5) + 31 - Math.clz32(left & -left));
    }
  }
}

export const hasBit = (bits: Uint32Array, node: number): boolean =>
  ((bits[node >>> 5] as number) & (1 << (node & 31))) !== 0;

export function putBit(bits: Uint32Array, node: number, isSet: boolean): void {
  const word = bits[node >>> 5] as number;
  bits[node >>> 5] = isSet ? word | (1 << (node & 31)) : word & ~(1 << (node & 31));
}

export function addAll(bits: Uint32Array, others: Uint32Array): void {
  for (let word = 0; word < bits.length; word += 1) bits[word] = (bits[word] as number) | (others[word] as number);
}

/** Counts the bits between the first and the last, both included. */
export function countBetween(bits: Uint32Array, first: number, last: number): number {
  const from = first >>> 5;
  const to = last >>> 5;
  if (from === to) return ones((bits[from] as number) & upFrom(first) & downFrom(last));
  let sum = ones((bits[from] as number) & upFrom(first)) + ones((bits[to] as number) & downFrom(last));
  for (let word = from + 1; word < to; word += 1) sum += ones(bits[word] as number);
  return sum;
}

/** Visits the bits between the first and the last, lowest first, until `visit` returns false. */
export function walkBetween(bits: Uint32Array, first: number, last: number, visit: (node: number) => boolean): void {
  const to = last >>> 5;
  for (let word = first >>> 5; word <= to; word += 1) {
    let left = bits[word] as number;
    if (word === first >>> 5) left &= upFrom(first);
    if (word === to) left &= downFrom(last);
    for (; left !== 0; left &= left - 1) if (!visit((word << 5) + 31 - Math.clz32(left & -left))) return;
  }
}

/** Masks within one word: this bit and the ones above it, or below it. */
const upFrom = (bit: number): number => -1 << (bit & 31);
const downFrom = (bit: number): number => -1 >>> (31 - (bit & 31));

/** Counts pairs, then fours, then bytes at once. */
export function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
