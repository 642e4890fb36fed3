// `core` and `scheduler` are pure. The compiler excludes DOM and Node types; this test excludes the impure parts of the
// language itself.
import { expect, test } from "vitest";
import { lineOf, withoutCommentsAndStrings } from "./bare-code.ts";
import { importsOf } from "./imports.ts";
import { pure } from "./sources.ts";

const FORBIDDEN: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  { pattern: /\bDate\b/g, instead: "take the instant as an argument; the leader stamps it" },
  { pattern: /\bperformance\b/g, instead: "take the instant as an argument" },
  { pattern: /\bMath\s*\.\s*random\b/g, instead: "take a random stream as an argument" },
  { pattern: /\bcrypto\b/g, instead: "take the hash function or the random bytes as an argument" },
  { pattern: /\b(setTimeout|setInterval|setImmediate|queueMicrotask)\b/g, instead: "return when to look again" },
  { pattern: /\bconsole\b/g, instead: "return what there is to say, as data" },
  { pattern: /\bprocess\s*\./g, instead: "take the value as an argument" },
  { pattern: /\bfetch\s*\(/g, instead: "return an effect, performed by the shell" },
  { pattern: /\b(async|await)\b/g, instead: "return data; waiting is the shell's work" },
  { pattern: /\bPromise\b/g, instead: "return data; waiting is the shell's work" },
  { pattern: /\.(sort|toSorted)\(\s*\)/g, instead: "pass a comparator whose last key is an id" },
  { pattern: /\blocaleCompare\b|\bIntl\b|\btoLocale\w+/g, instead: "compare code units; locales differ per machine" },
];

test("the pure packages are found", () => {
  expect(pure.length).toBeGreaterThan(5);
});

test("the pure packages import nothing from Node", () => {
  const wrong = pure.flatMap((source) =>
    importsOf(source)
      .filter((specifier) => specifier.startsWith("node:"))
      .map((specifier) => `${source.path} imports ${specifier}`),
  );
  expect(wrong, "pass what it does in as an argument").toEqual([]);
});

test.each(FORBIDDEN)("no $pattern.source in the pure packages", ({ pattern, instead }) => {
  const wrong = pure.flatMap((source) => {
    const bare = withoutCommentsAndStrings(source.text);
    return [...bare.matchAll(pattern)].map((match) => `${source.path}:${lineOf(bare, match.index)} ${match[0]}`);
  });
  expect(wrong, instead).toEqual([]);
});
