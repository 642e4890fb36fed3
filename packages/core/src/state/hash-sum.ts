// A sum of hashes. It does not depend on their order, and one hash can be replaced without reading the others.

import { invariant } from "../base/invariant.ts";

export interface HashSum {
  /** Hashes are hex text of 256 bits. */
  add(hash: string): void;
  take(hash: string): void;
  text(): string;
}

/** 256 bits as words: each is summed on its own, modulo 2^32. */
const WORDS = 8;

export function createHashSum(): HashSum {
  const sum = new Uint32Array(WORDS);
  /** Cached until the sum changes. */
  let text: string | null = null;

  function change(hex: string, sign: 1 | -1): void {
    invariant(hex.length === WORDS * 8, `expected a hash of ${WORDS * 8} hex digits, got ${hex.length}`);
    text = null;
    for (let i = 0; i < WORDS; i += 1) {
      let word = 0;
      for (let at = i * 8; at < i * 8 + 8; at += 1) word = (word << 4) | digit(hex.charCodeAt(at));
      sum[i] = (sum[i] ?? 0) + sign * word;
    }
  }

  return {
    add: (hash) => change(hash, 1),
    take: (hash) => change(hash, -1),
    text() {
      text ??= Array.from(sum, (word) => word.toString(16).padStart(8, "0")).join("");
      return text;
    },
  };
}

/** Parses a lower-case hex digit. */
const digit = (code: number): number => (code < 58 ? code - 48 : code - 87);
