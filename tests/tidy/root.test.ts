// Root never acts on a path that a user controls: in the agent, only the pieces of docs/decisions/0018 change owners and
// modes, make and remove folders, mount, and start programs. The rule is on the text, so it has no exceptions by place.
import { expect, test } from "vitest";
import { at, type Found, hits, rest } from "./agent-sources.ts";
import { withoutComments, withoutCommentsAndStrings } from "./bare-code.ts";
import { foreign } from "./sources.ts";

/** All that the rest takes from the file system's modules: reading, and files in folders of the agent's own. */
const PERMITTED: ReadonlySet<string> = new Set([
  ...["access", "accessSync", "constants", "existsSync", "realpath", "realpathSync", "readlink", "readlinkSync"],
  ...["stat", "statSync", "statfs", "fstatSync", "readdir", "readdirSync", "opendirSync", "watch"],
  ...["open", "openSync", "closeSync", "readFile", "readFileSync", "readSync", "createReadStream", "fsyncSync"],
  ...[
    "writeFile",
    "writeFileSync",
    "writeSync",
    "appendFile",
    "copyFile",
    "rename",
    "renameSync",
    "unlink",
    "rmdirSync",
  ],
]);
const FILE_SYSTEM = /^(?:node:)?fs(?:\/promises)?$/;
/** Modules by which any rule of this file could be avoided. */
const CLOSED = /^(?:node:)?(?:child_process|cluster|module)$/;
/** Every module that a source imports, with the names in braces. */
const IMPORT =
  /\b(?:import|export)\s+(type\s+)?(?:\{([^}]*)\}|[^;"'{]*?(?:\{[^}]*\})?)\s*from\s*["']([^"']+)["']|\bimport\s+["']([^"']+)["']/g;
const LATE_IMPORT =
  /\b(?:import|require)\s*\(\s*["'`]([^"'`]*)["'`]|\bimport\s+\w+\s*=\s*require\(\s*["']([^"']*)["']/g;
const BY_NAME =
  /\b(?:getBuiltinModule|createRequire|mainModule|dlopen)\b|\bprocess\.binding\b|\bimport\s*\(\s*[^"'\s]/g;
/** Methods of open files, and of anything else. */
const OWNERS = /\bl?f?(?:chown|chmod|utimes|truncate)(?:Sync)?\b/g;
/** A function of the file system, and a path that its user can change. */
const CALL =
  /(?<![.#\w])(?:access|connect|createConnection|open|stat|readFile|readdir|opendir|statfs|realpath|writeFile|appendFile|copyFile|rename|unlink|rmdir|exists|watch|createReadStream)(?:Sync)?\(/g;
const USERS_PATH =
  /\b(?:home|workdir|cwd|scratch|checkpoints|control|metricsFile|controlFolder|pathOf|LATTICE_(?:SCRATCH|OUTPUT|CHECKPOINT)\w*)\b/;
/** The kernel answers for a process, and waits for it or for its file systems. */
const SLOW_PROC =
  /\/proc\/(?:\$\{[^}]*\}|\d+)\/(?:task\/[^/]+\/)?(?:environ|cmdline|io|mem|maps|smaps|cwd|root|exe|fd)\b/;
const SHELL_TEXT = /["'`][^"'`\n]*\b(?:chown|chmod|rm -[a-zA-Z]*[rR][a-zA-Z]*) /g;
const MOUNT_PROGRAM = /(?:["'`]|\}|\$\{[^}]*\})\/?(?:[a-z]+\/)*(?:mount|umount)["'` ]/g;
const FILE_PROGRAM =
  /(?:spawn|spawnSync|execFile)\(\s*["'`](?:\/[a-z]+)*\/?(?:rm|chown|chmod|chgrp|mkdir|rmdir|ln|mv|cp|install|tar|rsync|mknod|truncate|touch|tee|dd|unlink|find)["'`]/g;
/** Of the C library; calls that take a descriptor have other names. */
const PATH_CALL =
  /\b(?:system|popen|fopen|freopen|mkfifo|mkdtemp|mkstemp|l?chown|rename|rmdir|symlink|link|u?mount|truncate|creat|mknod|utimes)\s*\(/g;
const WHOLE_ENVIRONMENT = /\benv:\s*process\.env\b|\.\.\.process\.env\b/g;

test("the rule reads the agent", () => {
  expect(rest.length).toBeGreaterThan(100);
});

test("the rest of the agent imports what it may use of the file system, by name", () => {
  const wrong = rest.flatMap((source) => forbiddenImports(source.text).map((found) => at(source, found)));
  expect(wrong, "use files/own-tree.ts or UserFiles, and import spawn and execFile from base/programs.ts").toEqual([]);
});

test.each([
  ["owners, modes and sizes of files are changed", OWNERS, withoutCommentsAndStrings],
  ["modules are loaded by computed names", BY_NAME, withoutComments],
  ["a program gets the whole environment", WHOLE_ENVIRONMENT, withoutComments],
  ["a program is started for what the pieces do", FILE_PROGRAM, withoutComments],
  ["something is mounted", MOUNT_PROGRAM, withoutComments],
  ["shell text changes owners or modes, or removes folders", SHELL_TEXT, withoutComments],
] as const)("nowhere else in the agent: %s", (_, pattern, view) => {
  const wrong = rest.flatMap((source) => hits(source, view(source.text), pattern));
  expect(wrong, "use files/own-tree.ts, UserFiles, or a step in the plan of lattice-mounts").toEqual([]);
});

test("no path that a user can change is used outside of the audited pieces", () => {
  const wrong = rest.flatMap((source) => callsOn(source.text).map((found) => at(source, found)));
  expect(wrong, "ask UserFiles, which acts as the user, in another process and with a deadline").toEqual([]);
});

test("only the agent's own processes are asked for what they can delay", () => {
  const asking = rest.flatMap((source) => slowReads(source.text).map((found) => at(source, found)));
  expect(
    asking.map((found) => found.replace(/:\d+ .*/, "")),
    "ask UserFiles",
  ).toEqual(["packages/agent/src/host/own-process.ts"]);
});

test("the native programs change nothing by path, and start no shell", () => {
  const native = foreign.filter(({ path }) => path.startsWith("packages/agent/native/"));
  expect(native.length).toBeGreaterThan(20);
  expect(
    native.flatMap((source) => hits(source, withoutComments(source.text), PATH_CALL)),
    "use the call that takes a descriptor",
  ).toEqual([]);
});

test.each([
  'import * as fs from "node:fs"',
  'import fs from "fs"',
  'import fs, { readFile } from "node:fs/promises"',
  'import { promises } from "node:fs"',
  'import { promises as files } from "fs"',
  'import { rm as clean } from "node:fs/promises"',
  'import { readFile, cp } from "node:fs/promises"',
  'import {\n  readFile,\n  symlink,\n} from "node:fs/promises"',
  "import { mkdtempSync } from 'node:fs'",
  'import { utimesSync, type Stats } from "node:fs"',
  'import { linkSync } from "node:fs"',
  'import { createWriteStream } from "node:fs"',
  'export * from "node:fs"',
  'export { rm } from "node:fs/promises"',
  'import fs = require("node:fs")',
  'const { rm } = await import("node:fs/promises")',
  'const { rm } = require("fs")',
  'import { execFile } from "node:child_process"',
  'import { type ChildProcess, fork } from "node:child_process"',
  'import * as child from "child_process"',
  'const { spawn } = await import("node:child_process")',
  'import { createRequire } from "node:module"',
  'import cluster from "node:cluster"',
])("%s is refused", (text) => {
  expect(forbiddenImports(text)).toHaveLength(1);
});

test.each([
  'import { readFileSync, type Stats } from "node:fs"',
  'import type { FileHandle } from "node:fs/promises"',
  'import type { ChildProcess } from "node:child_process"',
  'import { spawn } from "../base/programs.ts"',
])("%s is permitted", (text) => {
  expect(forbiddenImports(text)).toEqual([]);
});

test.each([
  [SHELL_TEXT, '"rm -rf /x"'],
  [SHELL_TEXT, "'cd /x && chown -R a b'"],
  [OWNERS, "await handle.chown(1, 1)"],
  [OWNERS, "file.truncate(0)"],
  [BY_NAME, 'process.getBuiltinModule("fs")'],
  [BY_NAME, "await import(name)"],
  [BY_NAME, 'process.binding("fs")'],
  [WHOLE_ENVIRONMENT, "spawn(program, [], { env: process.env })"],
  [WHOLE_ENVIRONMENT, "env: { ...process.env, A: 1 }"],
  [PATH_CALL, "if (chown(path, uid, gid) != 0) return -1;"],
  [PATH_CALL, "rename (old, new);"],
  [FILE_PROGRAM, 'spawn("/bin/rm", ["-rf", path], { env })'],
  [FILE_PROGRAM, 'execFile("chown", words, { env }, ended)'],
  [MOUNT_PROGRAM, ["`$", "{bin}/bin/mount -t tmpfs`"].join("")],
  [MOUNT_PROGRAM, '"mount -t tmpfs tmpfs /dev/shm"'],
])("the rule %s catches %s", (pattern, text) => {
  expect(text.match(pattern)).not.toBeNull();
});

test.each([
  "await stat(runAs.home)",
  "readFileSync(join(scratch, name))",
  "open(workdir, constants.O_RDONLY | constants.O_DIRECTORY)",
  "readdir(\n  checkpoints,\n)",
  "existsSync(metricsFile(folder))",
  "renameSync(folders.pathOf(key), place)",
  "createReadStream(environment.LATTICE_OUTPUT_DIR)",
])("%s is a path of a user", (text) => {
  expect(callsOn(text)).toHaveLength(1);
});

test.each(["cmdline", "environ", "io", "cwd", "root/etc/passwd", "task/1/maps"])("%s of a process is slow", (name) => {
  expect(slowReads(["readFile(`/proc/$", `{pid}/${name}\`)`].join(""))).toHaveLength(1);
});

/** Returns the imports by which a source could do what only the pieces do. */
function forbiddenImports(text: string): readonly Found[] {
  const bare = withoutComments(text);
  const early = [...bare.matchAll(IMPORT)].filter(([, type, names, from, effect]) => {
    const module = from ?? effect ?? "";
    if (type !== undefined) return false;
    return CLOSED.test(module) || (FILE_SYSTEM.test(module) && !isPermitted(names));
  });
  const late = [...bare.matchAll(LATE_IMPORT)].filter(([, first = "", second = ""]) =>
    [first, second].some((module) => FILE_SYSTEM.test(module) || CLOSED.test(module)),
  );
  return [...early, ...late].map(({ 0: found, index }) => ({ position: index, text: found }));
}

/** `names`: of an import in braces. */
const isPermitted = (names: string | undefined): boolean =>
  (names ?? "*")
    .split(",")
    .map((name) => name.trim())
    .every((name) => name === "" || name.startsWith("type ") || PERMITTED.has(name));

/** Returns the calls of the file system with a path that a user can change. */
function callsOn(text: string): readonly Found[] {
  const bare = withoutCommentsAndStrings(text);
  return [...bare.matchAll(CALL)]
    .map(({ index, 0: name }) => ({ position: index, text: bare.slice(index, endOfCall(bare, index + name.length)) }))
    .filter(({ text: call }) => USERS_PATH.test(call));
}

function endOfCall(text: string, from: number): number {
  let depth = 1;
  let end = from;
  for (; end < text.length && depth > 0; end += 1) {
    if (text[end] === "(") depth += 1;
    if (text[end] === ")") depth -= 1;
  }
  return end;
}

/** Returns what a source reads of processes that these can delay. The name that a link has is known at once. */
function slowReads(text: string): readonly Found[] {
  const bare = withoutComments(text);
  return [...bare.matchAll(CALL)]
    .map(({ index, 0: name }) => ({ position: index, text: bare.slice(index, endOfCall(bare, index + name.length)) }))
    .filter(({ text: call }) => SLOW_PROC.test(call));
}
