// The vocabulary as tests. Words and phrases outside the glossary are rejected with the replacement to use; an exported
// type name has one meaning; an exported name has an importer; ids and times become branded where they are parsed only.
import { expect, test } from "vitest";
import { lineOf, withoutCommentsAndStrings } from "./bare-code.ts";
import { code, inPackages, prose, read, type Source } from "./sources.ts";
import { unusedExports } from "./unused.ts";

/**
 * Phrases of the old vocabulary, and what to write instead. The page that defines the words lists them too; this file
 * spells each with a gap, so that it does not match itself.
 */
const BANNED: readonly (readonly [phrase: string, instead: string])[] = [
  ["who_ever", "name the subject: the leader, the user, the caller"],
  ["whom_ever", "name the subject: the leader, the user, the caller"],
  ["some_body", "another user, a client, an operator"],
  ["any_body", "any user, any client"],
  ["a_new", "again, or the verb with re-"],
  ["how-_manieth", "number, ordinal"],
  ["is t_old", "receives, is notified"],
  ["are t_old", "receive, are notified"],
  ["was t_old", "received, was notified"],
  ["were t_old", "received, were notified"],
  ["to be h_ad", "available"],
  ["of l_ate", "recently"],
  ["goes o_n", "continues"],
  ["go o_n", "continue"],
  ["went o_n", "continued"],
  ["gone th_rough", "reviewed, visited"],
  ["those t_hat", "the noun: allocations that, nodes that"],
  ["those w_ho", "the noun: users who, clients that"],
  ["so m_any of", "a number of, how many"],
  ["stands b_eside", "is next to, is listed with"],
  ["let g_o", "release"],
  ["lets g_o", "releases"],
  ["set a_side", "quarantined (nodes), excluded (for one allocation), reserved"],
  ["given b_ack", "returned, released"],
  ["gives b_ack", "returns, releases"],
  ["is offer_ed", "is supported, is available"],
  ["not offer_ed", "not supported"],
  ["beyond d_oubt", "certainly, or leave it out"],
  ["men_ded", "fixed, repaired"],
  ["be_gun", "started"],
  ["no_body but", "only"],
];
const BANNED_NAMES =
  /\b(letGo|setAside|heldUntil|asGiven|letOthersSleep|sayOpened|isUnseen|standBy|mayGoOn|nobodyElse|tellTaken)\b/g;

/** A brand is given where a value is parsed or made, in these files and nowhere else. */
const PARSING = /^packages\/core\/src\/base\//;
const BRANDS = [...read("packages/core/src/base/ids.ts").text.matchAll(/^export type (\w+) = Brand</gm)].map(
  ([, name]) => name,
);

test("no word or phrase is used that the glossary replaces", () => {
  const patterns = BANNED.map(([phrase, instead]) => ({
    pattern: new RegExp(
      `(?<![\\w-])${phrase.replaceAll("_", "").replaceAll(" ", "\\s+(?:(?://|\\*)\\s*)?")}(?![\\w-])`,
      "gi",
    ),
    instead,
  }));
  const wrong = [...code, ...prose].flatMap((source) =>
    patterns.flatMap(({ pattern, instead }) => hits(source, source.text, pattern).map((hit) => `${hit}: ${instead}`)),
  );
  expect(wrong, "use the words of docs/GLOSSARY.md").toEqual([]);
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
  const cast = new RegExp(`\\bas (?:unknown as )?(?:${BRANDS.join("|")})\\b(?!\\s*[<.[])`, "g");
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
