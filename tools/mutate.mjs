// `npm run mutate -- FOLDER... [--sample 100] [--seed 1] [--timeout SECONDS]`: mutation testing. Changes one place of the
// source at a time, runs the unit tests that import the file, restores the file, and reports the changes that no test
// noticed. The places are chosen by seed, so that a report can be repeated. The mutator works on tokens, not on a syntax
// tree: a mutant that does not parse counts as killed. `--list` shows the mutants and runs nothing; `--near` runs only
// the tests in the folder that mirrors the source's. Survivors do not change the exit status: the report is for reading.
import { fork } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** For the run without a mutation. */
const BASELINE_TIMEOUT_MS = 900_000;
/** A run that takes this many times as long as the one without a mutation is ended. */
const SLOWER = 4;

const OPERATORS = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "+": "-",
  "-": "+",
  "+=": "-=",
  "-=": "+=",
  "&&": "||",
  "||": "&&",
};

if (process.send !== undefined && process.argv[2] === "--worker") await serveRuns();
else await main();

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
      timeout: { type: "string" },
      list: { type: "boolean", default: false },
      near: { type: "boolean", default: false },
    },
  });
  if (positionals.length === 0) {
    console.error("usage: npm run mutate -- packages/scheduler/src/reserve --sample 100 --seed 1");
    process.exit(2);
  }
  const sources = positionals.flatMap((path) => typescriptFiles(resolve(root, path)));
  const all = sources.flatMap((file) => mutantsOf(file, readFileSync(file, "utf8")));
  const chosen = pick(all, Number(values.sample), Number(values.seed));
  console.error(
    `${all.length} possible mutants in ${sources.length} files; trying ${chosen.length} with seed ${values.seed}`,
  );
  if (values.list) return void console.log(chosen.map(describe).join("\n"));
  const importing = testsByImport();
  const importers = (file) => importing(file).filter((test) => !values.near || isNear(file, test));
  const survivors = [];
  let untested = 0;
  const runner = createRunner();
  let begin = Date.now();
  try {
    const tests = [...new Set(chosen.flatMap(({ file }) => importers(file)))];
    if (tests.length > 0 && (await runner.fails(chosen[0].file, tests, BASELINE_TIMEOUT_MS))) {
      console.error("the tests fail without any mutation, or take too long; run them first:");
      console.error(`  npx vitest run --project unit ${tests.map((test) => relative(root, test)).join(" ")}`);
      process.exitCode = 1;
      return;
    }
    // An endless loop is a mutant that the tests noticed.
    const timeoutMs = values.timeout === undefined ? SLOWER * (Date.now() - begin) : Number(values.timeout) * 1000;
    begin = Date.now();
    for (const [n, mutant] of chosen.entries()) {
      progress(n, chosen.length, survivors.length, begin);
      const tests = importers(mutant.file);
      if (tests.length === 0) untested += 1;
      if (tests.length === 0 || !(await kills(runner, mutant, { tests, timeoutMs }))) survivors.push(mutant);
    }
  } finally {
    runner.close();
  }
  progress(chosen.length, chosen.length, survivors.length, begin);
  process.stderr.write("\n");
  const killed = chosen.length - survivors.length;
  console.log(
    `${killed} of ${chosen.length} mutants killed (${Math.round((100 * killed) / Math.max(1, chosen.length))} %)`,
  );
  if (untested > 0) console.log(`${untested} of the survivors are in files that no unit test imports`);
  for (const mutant of survivors) console.log(`survived ${describe(mutant)}`);
}

/** Tests next to the mutant's folder run first: they fail soonest, and a failure ends the run. */
async function kills(runner, mutant, { tests, timeoutMs }) {
  const before = readFileSync(mutant.file, "utf8");
  const restore = () => writeFileSync(mutant.file, before);
  process.once("exit", restore);
  const stop = () => process.exit(130);
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    writeFileSync(mutant.file, before.slice(0, mutant.at) + mutant.to + before.slice(mutant.at + mutant.from.length));
    const near = tests.filter((test) => isNear(mutant.file, test));
    const far = tests.filter((test) => !near.includes(test));
    for (const batch of [near, far])
      if (batch.length > 0 && (await runner.fails(mutant.file, batch, timeoutMs))) return true;
    return false;
  } finally {
    restore();
    process.off("exit", restore).off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** The same folder below `test` as below `src`. */
function isNear(source, test) {
  return dirname(test) === dirname(source).replace(/\/src(\/|$)/, "/test$1");
}

// ---- running tests: a child process, so that an endless loop can be ended

function createRunner() {
  let child = null;
  const start = () =>
    fork(fileURLToPath(import.meta.url), ["--worker"], { cwd: root, stdio: ["ignore", "ignore", "ignore", "ipc"] });
  return {
    fails: (file, tests, timeoutMs) =>
      new Promise((done) => {
        child ??= start();
        const own = child;
        const end = (failed, isBroken = false) => {
          clearTimeout(timer);
          own.removeAllListeners();
          if (isBroken) {
            own.kill("SIGKILL");
            child = null;
          }
          done(failed);
        };
        const timer = setTimeout(() => end(true, true), timeoutMs);
        own.once("message", ({ failed }) => end(failed));
        own.once("exit", () => end(true, true));
        own.send({ file, tests });
      }),
    close: () => child?.kill("SIGKILL"),
  };
}

async function serveRuns() {
  const { createVitest } = await import("vitest/node");
  const vitest = await createVitest("test", {
    root,
    watch: false,
    project: ["unit"],
    bail: 1,
    pool: "threads",
    reporters: [{}],
    fileParallelism: false,
    maxWorkers: 1,
  });
  await vitest.standalone();
  /** The file of the run before: restored since, but the module graph still has its mutant. */
  let previous = null;
  process.on("message", async ({ file, tests }) => {
    for (const changed of new Set([previous ?? file, file])) {
      vitest.invalidateFile(changed);
      for (const project of vitest.projects) project.vite.moduleGraph.onFileChange(changed);
    }
    previous = file;
    const specs = await vitest.globTestSpecifications(tests.map((test) => relative(root, test)));
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specs, false);
    const failed = unhandledErrors.length > 0 || testModules.some((one) => !one.ok());
    process.send({ failed });
  });
}

// ---- which tests import a file, directly or not

function testsByImport() {
  const files = readdirSync(join(root, "packages")).flatMap((name) =>
    ["src", "test"].flatMap((part) => typescriptFiles(join(root, "packages", name, part))),
  );
  const importersOf = new Map();
  for (const file of files) {
    for (const target of importsOf(file)) importersOf.set(target, [...(importersOf.get(target) ?? []), file]);
  }
  const packageOf = (file) => relative(join(root, "packages"), file).split("/")[0];
  return (source) => {
    const seen = new Set([source]);
    for (const file of seen) for (const importer of importersOf.get(file) ?? []) seen.add(importer);
    // Other packages test their own work; their suites take minutes.
    return [...seen].filter((file) => file.endsWith(".test.ts") && packageOf(file) === packageOf(source)).sort();
  };
}

function importsOf(file) {
  return [...readFileSync(file, "utf8").matchAll(/\bfrom "([^"]+)"/g)].flatMap(([, name]) => {
    if (name.startsWith(".")) return [resolve(dirname(file), name)];
    return name.startsWith("@lattice/") ? [join(root, "packages", name.slice(9), "src", "index.ts")] : [];
  });
}

function typescriptFiles(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (found.isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .sort()
    .map((name) => join(path, name));
}

// ---- mutants

/** Every place of the code that a mutation rule applies to: `{ file, at, from, to }`. */
function mutantsOf(file, text) {
  const code = blank(text);
  const found = [];
  const add = (at, from, to) => found.push({ file, at, from, to });
  // The formatter puts spaces around binary operators and none around type arguments.
  for (const { index, 1: operator } of code.matchAll(/(?<= )(<=?|>=?|[=!]==|\+=?|-=?|&&|\|\|)(?=\s)/g)) {
    add(index, operator, OPERATORS[operator]);
  }
  for (const { index, 0: word } of code.matchAll(/(?<![\w.])(true|false)\b(?!\s*[?:]\s*\w+\s*[;)])/g)) {
    add(index, word, word === "true" ? "false" : "true");
  }
  for (const { index } of code.matchAll(/!(?=[\w(])/g)) add(index, "!", "");
  for (const { index, 0: digits } of code.matchAll(/(?<![\w.]|[^|]\| -?)\d+(?![\w.]| \| )/g))
    add(index, digits, String(Number(digits) + 1));
  for (const { index, 0: head } of code.matchAll(/\bif \(/g)) {
    const end = closing(code, index + head.length - 1);
    if (end > 0) add(index + 4, text.slice(index + 4, end), `!(${text.slice(index + 4, end)})`);
  }
  for (const { index, 1: statement } of code.matchAll(
    /^[ \t]*((?!return|const|let|throw|import|export|await|yield|for|if|while)[\w.?]+\(.*\);)$/gm,
  )) {
    const at = text.indexOf(statement.slice(0, 4), index);
    add(at, text.slice(at, at + statement.length), ";");
  }
  return found.sort((a, b) => a.at - b.at);
}

/** The text with comments, strings, imports and types replaced by spaces; positions stay. */
function blank(text) {
  const hide = (part) => part.replace(/[^\n]/g, " ");
  return blankText(text)
    .replace(/^(?:import|export type \*|export \{)[\s\S]*?;$/gm, hide)
    .replace(/^(?:export )?interface [\s\S]*?^\}/gm, hide)
    .replace(/^(?:export )?type [\s\S]*?;$/gm, hide);
}

/** Blanks comments, strings and the text of templates. The code inside `${}` of a template stays. */
function blankText(text) {
  const token =
    /\/\*[\s\S]*?\*\/|(?<![:"'`\w])\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)|[{}]/g;
  const templateRest = /(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)/y;
  const blanked = text.split("");
  const hide = (from, to) => {
    for (let at = from; at < to; at += 1) if (text[at] !== "\n") blanked[at] = " ";
  };
  /** Open braces, innermost last; true: of a template's substitution. */
  const braces = [];
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const [part] = found;
    if (part === "{") braces.push(false);
    else if (part !== "}") {
      hide(found.index, token.lastIndex);
      if (part.startsWith("`") && part.endsWith("${")) braces.push(true);
    } else if (braces.pop() === true) {
      templateRest.lastIndex = token.lastIndex;
      const [rest = ""] = templateRest.exec(text) ?? [];
      hide(found.index, token.lastIndex + rest.length);
      token.lastIndex += rest.length;
      if (rest.endsWith("${")) braces.push(true);
    }
  }
  return blanked.join("");
}

function closing(code, open) {
  let depth = 0;
  for (let at = open; at < code.length; at += 1) {
    if (code[at] === "(") depth += 1;
    if (code[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

/** A seeded sample without repetition, in order of place. */
function pick(all, count, seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  for (let i = 0; i < 16; i += 1) random();
  const order = all.map((mutant) => ({ mutant, key: random() })).sort((a, b) => a.key - b.key);
  const chosen = new Set(order.slice(0, count).map(({ mutant }) => mutant));
  return all.filter((mutant) => chosen.has(mutant));
}

function describe({ file, at, from, to }) {
  const text = readFileSync(file, "utf8");
  const line = text.slice(0, at).split("\n").length;
  const short = (part) => part.replace(/\s+/g, " ").slice(0, 60);
  const context = short((text.split("\n")[line - 1] ?? "").trim());
  return `${relative(root, file)}:${line}  ${short(from)}  ->  ${short(to) || "(deleted)"}    in: ${context}`;
}

function progress(done, all, survived, begin) {
  const width = 30;
  const filled = Math.round((width * done) / Math.max(1, all));
  const left = done === 0 ? "" : `, ${Math.round(((Date.now() - begin) / done / 1000) * (all - done))} s left`;
  const line = `[${"#".repeat(filled)}${".".repeat(width - filled)}] ${done}/${all}, ${survived} survived${left}`;
  if (process.stderr.isTTY) process.stderr.write(`\r${line}   `);
  else if (done % 10 === 0) process.stderr.write(`${line}\n`);
}
