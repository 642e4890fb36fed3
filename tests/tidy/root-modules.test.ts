// The ways around root.test.ts, closed: every module that an agent imports is on a list, so that none brings file operations,
// programs or compiled code along; and what is permitted is used by its own name, never handed on.
import { expect, test } from "vitest";
import { at, type Found, found, hits, rest } from "./agent-sources.ts";
import { withoutComments, withoutCommentsAndStrings } from "./bare-code.ts";

/** None of these acts on a path, apart from the file system's, which root.test.ts limits by name. */
const MODULES: ReadonlySet<string> = new Set([
  ...["node:crypto", "node:events", "node:fs", "node:fs/promises", "node:http", "node:net", "node:os", "node:path"],
  ...["node:stream", "node:stream/promises", "node:url", "node:zlib"],
  ...["@bufbuild/protobuf", "@bufbuild/protobuf/wire", "@bufbuild/protobuf/wkt", "@grpc/grpc-js"],
  ...["@lattice/core", "@lattice/wire", "@peculiar/x509", "commander", "pino", "reflect-metadata", "s3mini", "yaml"],
]);
/** Compiled code calls anything, and these run text as code: each in one place. */
const SINGLE_PLACES: Readonly<Record<string, readonly string[]>> = {
  koffi: ["discovery/gpus/main.ts", "gpu-clear/main.ts", "host/isolation/devices/main.ts"],
  "node:v8": ["logs/young-garbage.ts"],
  "node:vm": ["logs/young-garbage.ts"],
};
const MODULE = /(?:(?<!["'`])\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*(["'`])([^"'`]*)\1/g;
const TYPES_ONLY = /\bimport\s+type\s[^;]*?;/g;
/** A literal alone; another expression could be any module. */
const COMPUTED_MODULE = /\b(?:import|require)\s*\(\s*(?!["'][^"'`\\]*["']\s*\))/g;
const ESCAPED_MODULE = /\bfrom\s*["'][^"']*\\/g;
const TEXT_AS_CODE = /\beval\b|\bnew\s+Function\b|\bFunction\s*\(\s*["'`]|\bWebAssembly\b|\bconstructor\s*\(\s*["'`]/g;
/** Members of `process` that change nothing by path. */
const OF_PROCESS = [
  ...["arch", "argv", "cpuUsage", "env", "execPath", "exit", "exitCode", "getgid", "getgroups", "getuid", "kill"],
  ...["memoryUsage", "on", "pid", "send", "setgid", "setgroups", "setuid", "stderr", "stdout", "umask", "uptime"],
];
const OTHER_OF_PROCESS = new RegExp(
  `(?<![.\\w])process\\s*(?:\\?\\.|\\.)\\s*(?!(?:${OF_PROCESS.join("|")})\\b)\\w+`,
  "g",
);
const PROCESS_BY_NAME = /(?<![.\w])(?:process|globalThis|global)\s*(?:\?\.)?\[/g;
/** As a whole it goes to the functions that take single variables out of it. */
const WHOLE_ENVIRONMENT = /(?<!\btakeSecrets\(|\bbase: |\bslice\(2\), )\bprocess\.env\b(?!\s*(?:\?\.|\.)\s*\w|\[)/g;
const LOG_FILES = /\bpino\s*\.\s*(?:destination|transport|multistream)\b/g;
const PROGRAMS =
  "rm|chown|chmod|chgrp|mkdir|rmdir|ln|mv|cp|install|tar|rsync|mknod|mkfifo|truncate|touch|tee|dd|unlink|shred";
const PROGRAM_BY_PATH = new RegExp(`["'\`](?:/usr)?(?:/local)?/s?bin/(?:${PROGRAMS})["'\` ]`, "g");
const IN_SHELL_TEXT = new RegExp(`(?:["'\`;&|(]|^)[ \\t]*(?:exec )?(?:${PROGRAMS}) +[-"'$/]`, "m");
const FILE_SYSTEM_IMPORT = /\bimport\s*\{([^}]*)\}\s*from\s*["']node:fs(?:\/promises)?["']/g;

const namesOf = (text: string): readonly string[] =>
  [...text.matchAll(FILE_SYSTEM_IMPORT)]
    .flatMap(([, names = ""]) => names.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "constants" && !name.startsWith("type "));

/** Returns the uses of functions of the file system that are no calls: under another name no rule would see them. */
function handedOn(text: string): readonly Found[] {
  const bare = withoutCommentsAndStrings(text).replace(FILE_SYSTEM_IMPORT, (whole) => whole.replaceAll(/[^\n]/g, " "));
  const imports = new Set(namesOf(withoutComments(text)));
  const shown = bare.replace(/\bimport\s*\{[^}]*\}\s*from[^;]*;/g, (whole) => whole.replaceAll(/[^\n]/g, " "));
  return [...imports].flatMap((name) => found(shown, new RegExp(`(?<![.#\\w])${name}\\b(?!\\s*(?:\\(|<|:|\\w))`, "g")));
}

function modulesOf(text: string): readonly Found[] {
  const bare = withoutComments(text).replace(TYPES_ONLY, (whole) => whole.replaceAll(/[^\n]/g, " "));
  return [...bare.matchAll(MODULE)]
    .filter(([, , name = ""]) => !name.startsWith(".") && !MODULES.has(name))
    .map((match) => ({ position: match.index, text: match[2] ?? "" }));
}

test("an agent imports listed modules only, and modules that run code in single places", () => {
  const wrong = rest.flatMap((source) =>
    modulesOf(source.text)
      .filter(({ text }) => !SINGLE_PLACES[text]?.some((place) => source.path === `packages/agent/src/${place}`))
      .map((one) => at(source, one)),
  );
  expect(wrong, "list the module here if it acts on no path and runs no code").toEqual([]);
});

test("functions of the file system are called, and not handed on under other names", () => {
  const wrong = rest.flatMap((source) => handedOn(source.text).map((one) => at(source, one)));
  expect(wrong, "call the function by its own name").toEqual([]);
});

test.each([
  ["a module has a computed name", COMPUTED_MODULE, withoutComments],
  ["a module has an escaped name", ESCAPED_MODULE, withoutComments],
  ["text is run as code", TEXT_AS_CODE, withoutCommentsAndStrings],
  ["an unlisted member of process is used", OTHER_OF_PROCESS, withoutCommentsAndStrings],
  ["a member of process is found by a computed name", PROCESS_BY_NAME, withoutCommentsAndStrings],
  ["the whole environment is handed on", WHOLE_ENVIRONMENT, withoutCommentsAndStrings],
  ["the log is written to a file", LOG_FILES, withoutCommentsAndStrings],
  ["a program is named that does the work of the pieces", PROGRAM_BY_PATH, withoutComments],
] as const)("nowhere in the agent: %s", (_, pattern, view) => {
  expect(rest.flatMap((source) => hits(source, view(source.text), pattern))).toEqual([]);
});

test("shell text names files where a user runs it, or below a folder of the agent's", () => {
  const places = rest.filter((source) => IN_SHELL_TEXT.test(withoutComments(source.text))).map(({ path }) => path);
  expect(places).toEqual(["packages/agent/src/checkpoint/dmtcp.ts", "packages/agent/src/network/linux.ts"]);
});

test.each([
  'import { Worker } from "node:worker_threads"',
  'import { rmSync } from "fs"',
  'import "node:module"',
  'import koffi from "koffi"',
  'import { WASI } from "node:wasi"',
  'import { runInThisContext } from "node:vm"',
  'import { writeHeapSnapshot } from "node:v8"',
  'import { DatabaseSync } from "node:sqlite"',
  'export { cp } from "fs-extra"',
  'const { start } = await import("node:repl")',
  'import process, { binding } from "node:process"',
])("%s is no listed module", (text) => {
  expect(modulesOf(text)).toHaveLength(1);
});

test.each([
  'import { unlink } from "node:fs/promises";\nconst remove = unlink;',
  'import { unlink } from "node:fs/promises";\nawait Promise.all(paths.map(unlink));',
  'import { rename } from "node:fs/promises";\nexport { rename };',
  'import { open } from "node:fs/promises";\nexport const pieces = { open };',
  'import { open } from "node:fs/promises";\nopen.call(null, path);',
  'import { open } from "node:fs/promises";\nconst late = () => open;',
])("a function of the file system is handed on by %s", (text) => {
  expect(handedOn(text)).toHaveLength(1);
});

test.each([
  [COMPUTED_MODULE, 'await import("node:" + "fs")'],
  [COMPUTED_MODULE, "await import(`node:$" + '{"fs"}`)'],
  [COMPUTED_MODULE, "await import(name)"],
  [COMPUTED_MODULE, 'await import("node:\\u0066s")'],
  [ESCAPED_MODULE, 'import { cp } from "node:\\u0066s"'],
  [TEXT_AS_CODE, 'new Function("return process")'],
  [TEXT_AS_CODE, '(() => 1).constructor("return process")'],
  [TEXT_AS_CODE, "globalThis.eval(text)"],
  [OTHER_OF_PROCESS, "process.chdir(home)"],
  [OTHER_OF_PROCESS, "process.report.writeReport(path)"],
  [OTHER_OF_PROCESS, "process?.loadEnvFile(path)"],
  [OTHER_OF_PROCESS, "process.seteuid(uid)"],
  [PROCESS_BY_NAME, 'process["get" + "BuiltinModule"]("fs")'],
  [PROCESS_BY_NAME, "globalThis[name]"],
  [WHOLE_ENVIRONMENT, "const all = process.env;"],
  [WHOLE_ENVIRONMENT, "spawn(program, [], { env: process.env })"],
  [LOG_FILES, "pino(pino.destination(path))"],
  [PROGRAM_BY_PATH, 'const program = "/bin/rm";'],
  [PROGRAM_BY_PATH, 'spawn("/usr/bin/install", words, { env })'],
  [IN_SHELL_TEXT, '`cd /x\nmv "$1" "$2"`'],
  [IN_SHELL_TEXT, '"test -e x && ln -s a b"'],
  [IN_SHELL_TEXT, "'exec tee \"$1\"'"],
])("the rule %s catches %s", (pattern, text) => {
  expect(text.match(pattern)).not.toBeNull();
});
