// Values by allocation id in flat arrays, which move between threads without a copy: a hash table with open addressing.
// A report of 100,000 allocations would otherwise be copied on the thread that serves the API.

import type { AllocationId } from "@lattice/core";

export interface PackedIndex {
  /** The number of each allocation; `EMPTY` where the place is empty. */
  readonly numbers: Float64Array;
  /** The index in the task group; `NO_ELEMENT` without one. */
  readonly elements: Int32Array;
  readonly values: Float64Array;
}

/** Values as JSON. The index has the place of each in `ends`. */
export interface PackedTexts {
  readonly index: PackedIndex;
  readonly bytes: Uint8Array;
  /** Where the text of each value ends. */
  readonly ends: Float64Array;
}

const EMPTY = -1;
const NO_ELEMENT = -1;
/** At most half of the places are used, so that a search ends soon. */
const PLACES_PER_VALUE = 2;

export function packNumbers(values: Iterable<readonly [AllocationId, number]>, count: number): PackedIndex {
  const places = 2 ** Math.ceil(Math.log2(Math.max(1, count) * PLACES_PER_VALUE));
  const index = {
    numbers: new Float64Array(places).fill(EMPTY),
    elements: new Int32Array(places),
    values: new Float64Array(places),
  };
  for (const [id, value] of values) {
    const { number, element } = partsOf(id);
    const at = placeOf(index, number, element);
    index.numbers[at] = number;
    index.elements[at] = element;
    index.values[at] = value;
  }
  return index;
}

export function packTexts(values: ReadonlyMap<AllocationId, unknown>): PackedTexts {
  const places: [AllocationId, number][] = [];
  const texts: string[] = [];
  const ends = new Float64Array(values.size);
  let end = 0;
  for (const [id, value] of values) {
    const text = JSON.stringify(value);
    end += Buffer.byteLength(text);
    ends[places.length] = end;
    places.push([id, places.length]);
    texts.push(text);
  }
  const bytes = new Uint8Array(end);
  new TextEncoder().encodeInto(texts.join(""), bytes);
  return { index: packNumbers(places, places.length), bytes, ends };
}

export function numberAt(index: PackedIndex, id: AllocationId): number | undefined {
  const { number, element } = partsOf(id);
  const at = placeOf(index, number, element);
  return index.numbers[at] === EMPTY ? undefined : index.values[at];
}

export function textAt({ index, bytes, ends }: PackedTexts, id: AllocationId): unknown {
  const at = numberAt(index, id);
  if (at === undefined) return undefined;
  const text = bytes.subarray(at === 0 ? 0 : ends[at - 1], ends[at]);
  return JSON.parse(new TextDecoder().decode(text));
}

/** The buffers to move. */
export const buffersOf = ({ numbers, elements, values }: PackedIndex): ArrayBuffer[] =>
  [numbers.buffer, elements.buffer, values.buffer] as ArrayBuffer[];

function partsOf(id: AllocationId): { readonly number: number; readonly element: number } {
  const cut = id.indexOf("_");
  if (cut < 0) return { number: Number(id), element: NO_ELEMENT };
  return { number: Number(id.slice(0, cut)), element: Number(id.slice(cut + 1)) };
}

/** Returns the place of the key, or the empty place where it belongs. */
function placeOf({ numbers, elements }: PackedIndex, number: number, element: number): number {
  const mask = numbers.length - 1;
  let at = scattered(number, element) & mask;
  while (numbers[at] !== EMPTY && (numbers[at] !== number || elements[at] !== element)) at = (at + 1) & mask;
  return at;
}

/** Neighbouring ids are common, so they must not share places. */
function scattered(number: number, element: number): number {
  const mixed = Math.imul(number | 0, 0x9e3779b1) ^ Math.imul(element + 1, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}
