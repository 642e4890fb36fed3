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
const CHILD_PROCESS =
  /import (?!type )[^;"]* from "(?:node:)?child_process"|(?:import|require)\(\s*["'`](?:node:)?child_process["'`]\s*\)/g;
/** A whole module under a name, by which the rules above would not see its functions. */
const WHOLE_FS =
  /import (?:type )?\* as \w+ from "(?:node:)?fs(?:\/promises)?"|\bfsp?\.(?:rm|mkdir|mkdtemp|cp)(?:Sync)?\(/g;
const SHELL_TEXT = /["'`][^"'`\n]*\b(?:chown|chmod|rm -[a-zA-Z]*[rR][a-zA-Z]*) /g;
const MOUNT_PROGRAM = /(?:["'`]|\}|\$\{[^}]*\})\/?(?:[a-z]+\/)*(?:mount|umount)["'` ]/g;

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

test("functions of the file system are imported by name", () => {
  const wrong = rest.flatMap((source) => hits(source, source.text, WHOLE_FS));
  expect(wrong, "import the function by its name, so that the rules of this file see it").toEqual([]);
});

test("only lattice-mounts mounts", () => {
  const wrong = rest.flatMap((source) => hits(source, source.text, MOUNT_PROGRAM));
  expect(wrong, "add a step to the plan of lattice-mounts").toEqual([]);
});

test("no shell text of the agent changes owners or modes, or removes folders", () => {
  const wrong = rest.flatMap((source) => hits(source, source.text, SHELL_TEXT));
  expect(wrong, "use files/own-tree.ts or UserFiles").toEqual([]);
});

test.each([
  [SHELL_TEXT, '"rm -rf /x"'],
  [SHELL_TEXT, "'cd /x && chown -R a b'"],
  [WHOLE_FS, 'import * as fs from "node:fs"'],
  [WHOLE_FS, "await fsp.mkdir(path)"],
  [CHILD_PROCESS, 'const { spawn } = await import("node:child_process")'],
  [CHILD_PROCESS, 'import * as child from "node:child_process"'],
  [MOUNT_PROGRAM, ["`$", "{bin}/bin/mount -t tmpfs`"].join("")],
  [MOUNT_PROGRAM, '"mount -t tmpfs tmpfs /dev/shm"'],
])("the rule %s catches %s", (pattern, text) => {
  expect(text.match(pattern)).not.toBeNull();
});

function hits(source: Source, text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map((match) => `${source.path}:${lineOf(text, match.index)} ${match[0]}`);
}
