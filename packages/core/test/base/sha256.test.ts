// The hash of the audit chain. Archives are verified with other programs, so it must be SHA-256 of the UTF-8 text and
// nothing else.

import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/base/sha256.ts";

const standard = (text: string): string => createHash("sha256").update(Buffer.from(text, "utf8")).digest("hex");

describe("sha256", () => {
  it.each([
    ["the empty text", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "the two-block message of FIPS 180",
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
  ])("of %s has the published value", (_name, text, hash) => {
    expect(sha256(text)).toBe(hash);
  });

  it("equals the hash of the standard library at every length around a block", () => {
    for (let length = 50; length <= 130; length += 1) {
      const text = "a".repeat(length);
      expect(sha256(text), `length ${length}`).toBe(standard(text));
    }
  });

  it.each([
    ["two-byte characters", "\u0080\u07ff"],
    ["three-byte characters", "\u0800\ud7ff\ue000\uffff"],
    ["four-byte characters", "\u{10000}\u{1f600}\u{10ffff}"],
    ["a lone high surrogate, which becomes U+FFFD", "a\ud83db"],
    ["a lone low surrogate, which becomes U+FFFD", "a\ude00b"],
    ["NUL", "\0\0"],
  ])("encodes %s as UTF-8", (_name, text) => {
    expect(sha256(text)).toBe(standard(text));
  });

  it("equals the hash of the standard library for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(sha256(text)).toBe(standard(text));
      }),
      { numRuns: 300 },
    );
  });

  it("does not depend on the text before it", () => {
    const first = sha256("one");
    sha256("x".repeat(1000));
    expect(sha256("one")).toBe(first);
  });
});
