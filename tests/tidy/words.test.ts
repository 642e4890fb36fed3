// The vocabulary as tests. Words and phrases outside the glossary are rejected with the replacement to use; an exported
// type name has one meaning; an exported name has an importer; ids and times become branded where they are parsed only.
import { expect, test } from "vitest";
import { lineOf, withoutCommentsAndStrings } from "./bare-code.ts";
import { code, foreign, inPackages, prose, read, type Source } from "./sources.ts";
import { unusedExports } from "./unused.ts";

const GLOSSARY = "docs/GLOSSARY.md";
const [, replaced = ""] = read(GLOSSARY).text.split("\n## Replaced words\n");
/** The table of replaced words at the end of the glossary. */
const REPLACED = [...replaced.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)]
  .map(([, phrase = "", instead = ""]) => ({ phrase, instead }))
  .slice(1);
const BANNED_NAMES =
  /\b(letGo|setAside|heldUntil|asGiven|letOthersSleep|sayOpened|isUnseen|standBy|mayGoOn|nobodyElse|tellTaken)\b/g;

/** A brand is given where a value is parsed or made, in these files and nowhere else. */
const PARSING = /^packages\/core\/src\/base\//;
const BRANDS = [...read("packages/core/src/base/ids.ts").text.matchAll(/^export type (\w+) = Brand</gm)].map(
  ([, name]) => name,
);

test("no word or phrase is used that the glossary replaces", () => {
  const patterns = REPLACED.map(({ phrase, instead }) => ({
    pattern: new RegExp(`(?<![\\w-])${phrase.replaceAll(" ", "\\s+(?:(?://|\\*|#)\\s*)?")}(?![\\w-])`, "gi"),
    instead,
  }));
  expect(patterns.length).toBeGreaterThan(20);
  const texts = [...code, ...prose, ...foreign].map((source) =>
    source.path === GLOSSARY ? { ...source, text: source.text.replace(replaced, "") } : source,
  );
  const wrong = texts.flatMap((source) =>
    patterns.flatMap(({ pattern, instead }) => hits(source, source.text, pattern).map((hit) => `${hit}: ${instead}`)),
  );
  expect(wrong, "use the words of docs/GLOSSARY.md").toEqual([]);
});

test("comments do not begin with a pronoun in place of a noun", () => {
  const start = /(?:\/\/|\/\*\*|^\s*\*) (?:Whom?|Whose|What(?:ever)?|Those) /gm;
  const wrong = code.flatMap((source) => hits(source, source.text, start));
  expect(wrong, "name the subject: a noun of docs/GLOSSARY.md").toEqual([]);
});

test("no name is used that the glossary replaces", () => {
  const wrong = code
    .filter(({ path }) => !path.startsWith("tests/tidy/"))
    .flatMap((source) => hits(source, withoutCommentsAndStrings(source.text), BANNED_NAMES));
  expect(wrong, "use the words of docs/GLOSSARY.md").toEqual([]);
});

test("an exported type name has one meaning", () => {
  const places = new Map<string, string[]>();
  for (const { path, name, kind } of exported())
    if (kind === "type" || kind === "interface") places.set(name, [...(places.get(name) ?? []), path]);
  const wrong = [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(", ")}`);
  expect(wrong, "rename one of them after what it is in its room").toEqual([]);
});

test("every exported name has an importer", () => {
  const wrong = unusedExports(exported()).map(({ path, name }) => `${path}: ${name}`);
  expect(wrong, "remove the word export, or the name").toEqual([]);
});

test("values become branded in the parsing functions of core only", () => {
  const cast = new RegExp(`\\bas (?!const\\b)[^;=)\\n]*\\b(?:${BRANDS.join("|")})\\b`, "g");
  const wrong = inPackages
    .filter(({ path }) => !PARSING.test(path))
    .flatMap((source) => hits(source, withoutCommentsAndStrings(source.text), cast));
  expect(BRANDS.length).toBeGreaterThan(5);
  expect(wrong, "call the parsing or making function of packages/core/src/base").toEqual([]);
});

interface Exported {
  readonly path: string;
  readonly kind: string;
  readonly name: string;
}

const DECLARATION =
  /^export (?:declare )?(?:async )?(?:abstract )?(type|interface|const|let|function\*?|class|enum) ([A-Za-z_$][\w$]*)/gm;

function exported(): readonly Exported[] {
  return inPackages.flatMap(({ path, text }) =>
    [...withoutCommentsAndStrings(text).matchAll(DECLARATION)].map(([, kind = "", name = ""]) => ({
      path,
      kind,
      name,
    })),
  );
}

function hits(source: Source, text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map((match) => `${source.path}:${lineOf(text, match.index)} ${match[0]}`);
}
