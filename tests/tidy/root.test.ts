// Root never acts on a path that a user controls: in the agent, only the pieces of docs/decisions/0018 change owners and
// modes, make and remove folders, mount, and start programs. The rule is on the text, so it has no exceptions by place.
import { expect, test } from "vitest";
import { lineOf, withoutCommentsAndStrings } from "./bare-code.ts";
import { inPackages, type Source } from "./sources.ts";

const PIECES = /^packages\/agent\/src\/(files\/[^/]+|base\/programs)\.ts$/;
const rest = inPackages.filter(({ path }) => path.startsWith("packages/agent/src/") && !PIECES.test(path));

const FORBIDDEN: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bl?f?(?:chown|chmod)(?:Sync)?\b/g, "hand a folder or file over with files/own-tree.ts"],
  [/(?<![.#\w])(?:rm|rmSync)\(/g, "remove with files/own-tree.ts, or UserFiles.clear or remove below a user's folder"],
  [/(?<![.#\w])(?:mkdir|mkdirSync|mkdtemp|mkdtempSync)\(/g, "make it with files/own-tree.ts or UserFiles"],
];
const CHILD_PROCESS = /import \{[^}]*\} from "node:child_process"/g;

test("the rule reads the agent", () => {
  expect(rest.length).toBeGreaterThan(100);
});

test.each(FORBIDDEN)("%s is used in the audited pieces of the agent only", (pattern, instead) => {
  const wrong = rest.flatMap((source) => hits(source, withoutCommentsAndStrings(source.text), pattern));
  expect(wrong, instead).toEqual([]);
});

test("programs are started with a stated environment only", () => {
  const wrong = rest.flatMap((source) => hits(source, source.text, CHILD_PROCESS));
  expect(wrong, "import spawn and execFile from base/programs.ts; types from node:child_process are free").toEqual([]);
});

function hits(source: Source, text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map((match) => `${source.path}:${lineOf(text, match.index)} ${match[0]}`);
}
