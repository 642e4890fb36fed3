// Style rules as tests. Each message says what to do instead; there is no list of exceptions.
import { posix } from "node:path";
import { expect, test } from "vitest";
import { lineOf, withoutComments, withoutCommentsAndStrings } from "./bare-code.ts";
import { allFiles, code, inPackages, prose, read, type Source } from "./sources.ts";

const MAX_LINES = 400;
const VAGUE_NAME = /(^|[-_.])(utils?|helpers?|common|managers?|misc)([-_.]|$)/i;
/** Joined from parts, so that this file does not match its own rules. */
const UNFINISHED = new RegExp(
  ["\\bTO", "DO\\b|\\bFIX", "ME\\b|\\bX", "XX\\b|\\bplace", "holder\\b|\\bnot (yet )?imple", "mented\\b"].join(""),
  "gi",
);
const LEFT_OUT_TEST = new RegExp(
  ["\\b(test|it|describe|suite)\\.(ski", "p|on", "ly|to", "do|fai", "ls)\\b"].join(""),
  "g",
);
const MACHINE_PATH = new RegExp(["(?<![\\w.])/(wo", "rk|ro", "ot|Us", "ers)/[\\w.-]+"].join(""), "g");
const DEFAULT_EXPORT = /^export default\b|\bexport \{[^}]*\bdefault\b[^}]*\}/gm;

test("source files are found", () => {
  expect(code.length).toBeGreaterThan(30);
  expect(inPackages.length).toBeGreaterThan(10);
});

test(`no file is longer than ${MAX_LINES} lines`, () => {
  const wrong = code
    .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ path, lines }) => `${path}: ${lines} lines`);
  expect(wrong, "split the file by reasons to change").toEqual([]);
});

test("every file starts with a comment on its purpose", () => {
  const wrong = code.filter(({ text }) => !/^(#![^\n]*\n)?(\/\/ |\/\*\*?[\s*]*)\S/.test(text)).map(({ path }) => path);
  expect(wrong, "start with a comment: what the file decides, what it assumes, what it does not do").toEqual([]);
});

test("file and folder names say what is inside", () => {
  const wrong = allFiles.filter((path) => path.split("/").some((part) => VAGUE_NAME.test(stem(part))));
  expect(wrong, "name the file after the one thing it does").toEqual([]);
});

test("no unfinished markers are left", () => {
  const wrong = [...code, ...prose].flatMap((source) => hits(source, source.text, UNFINISHED));
  expect(wrong, "finish it, or write an issue and remove the marker").toEqual([]);
});

test("no test is skipped", () => {
  const wrong = code.flatMap((source) => hits(source, withoutComments(source.text), LEFT_OUT_TEST));
  expect(wrong, "make the test pass or delete it").toEqual([]);
});

test("packages have no default exports", () => {
  const wrong = inPackages.flatMap((source) => hits(source, withoutComments(source.text), DEFAULT_EXPORT));
  expect(wrong, "export a name, which is the same everywhere and can be searched").toEqual([]);
});

test("no deadline is lost to garbage collection", () => {
  const lost = /AbortSignal\.any\([^;]*AbortSignal\.timeout\(/g;
  const wrong = code.flatMap((source) => hits(source, withoutCommentsAndStrings(source.text), lost));
  expect(wrong, "Node collects a timeout that only `any` references: use withDeadline of the wire package").toEqual([]);
});

test("no file contains a path of one machine", () => {
  const wrong = [...code, ...prose].flatMap((source) => hits(source, source.text, MACHINE_PATH));
  expect(wrong, "use a path in the repository, a temporary directory or a setting").toEqual([]);
});

test("no type error is suppressed", () => {
  const silenced = /@ts-(ignore|expect-error|nocheck)|biome-ignore-all/g;
  const cast = /\bas any\b|: any\b|<any>/g;
  const wrong = code
    .filter(({ path }) => !path.startsWith("tests/tidy/"))
    .flatMap((source) => [
      ...hits(source, source.text, silenced),
      ...hits(source, withoutCommentsAndStrings(source.text), cast),
    ]);
  expect(wrong, "parse the value where it enters and give it its type there").toEqual([]);
});

test("package-lock.json contains no registry URL", () => {
  const addresses = read("package-lock.json").text.match(/"resolved": "https?:[^"]*"/g) ?? [];
  expect(addresses.slice(0, 3), "install with omit-lockfile-registry-resolved=true, as .npmrc says").toEqual([]);
});

function hits(source: Source, text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map((match) => `${source.path}:${lineOf(text, match.index)} ${match[0]}`);
}

function stem(part: string): string {
  return part.slice(0, part.length - posix.extname(part).length).replace(/\.test$/, "");
}
