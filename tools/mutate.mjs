// `npm run mutate -- FOLDER... [--sample 100] [--seed 1]`: mutation testing. Changes one place of the source at a time,
// runs the unit tests that import the file, restores the file, and reports the changes that no test noticed. The places
// are chosen by seed, so that a report can be repeated. The mutator works on tokens, not on a syntax tree: a mutant that
// does not parse counts as killed. docs/testing/mutation.md describes the options and records the results. Survivors do
// not change the exit status: the report is for reading.
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mutantsOf, pick } from "./mutants.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** One line per mutant tried: its key and the test that killed it, or null. */
const VERDICTS = join(root, ".cache/mutate/verdicts.jsonl");
/** The source being mutated, with its original text: a killed run leaves it behind. */
const ORIGINAL = join(root, ".cache/mutate/original.json");

/** For the run without a mutation. */
const BASELINE_TIMEOUT_MS = 900_000;
/** A mutant whose tests take this many times as long is an endless loop; the margin is for loading modules. */
const SLOWER = 4;
const TIMEOUT_MARGIN_MS = 20_000;

if (process.send !== undefined && process.argv[2] === "--worker") await serveRuns();
else await main();

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
      longest: { type: "string", default: "Infinity" },
      list: { type: "boolean", default: false },
      near: { type: "boolean", default: false },
      resume: { type: "boolean", default: false },
      again: { type: "boolean", default: false },
    },
  });
  restoreAfterKill();
  if (positionals.length === 0) {
    console.error("usage: npm run mutate -- packages/scheduler/src/reserve --sample 100 --seed 1");
    process.exit(2);
  }
  const folders = positionals.map((path) => resolve(root, path));
  const all = folders.flatMap(typescriptFiles).flatMap((file) => mutantsOf(file, readFileSync(file, "utf8")));
  const chosen = pick(all, Number(values.sample), Number(values.seed));
  console.error(`${all.length} possible mutants; trying ${chosen.length} with seed ${values.seed}`);
  if (values.list) return void console.log(chosen.map(describe).join("\n"));
  const verdicts = openVerdicts({ keep: values.resume || values.again, survivorsAgain: values.again });
  const [importing, seconds, longest] = [testsByImport(), recordedSeconds(), Number(values.longest)];
  const testsOf = (file) =>
    importing(file).filter((test) => (!values.near || isNear(file, test)) && seconds(test) <= longest);
  if (await tryAll(chosen, { testsOf, longest, verdicts })) report(chosen, { folders, testsOf, verdicts });
  else process.exitCode = 1;
}

/** False if the tests fail without a mutation. */
async function tryAll(chosen, { testsOf, longest, verdicts }) {
  const left = chosen.filter((mutant) => verdicts.of(mutant) === undefined);
  if (left.length === 0) return true;
  const tests = [...new Set(left.flatMap(({ file }) => testsOf(file)))];
  const runner = createRunner();
  try {
    console.error(`running ${tests.length} test files without a mutation`);
    const baseline = await runner.run(left[0].file, { tests, timeoutMs: BASELINE_TIMEOUT_MS });
    if (baseline.failed) {
      console.error("the tests fail without any mutation, or take too long; run them first:");
      console.error(`  npx vitest run --project unit ${tests.map((test) => relative(root, test)).join(" ")}`);
      return false;
    }
    const begin = Date.now();
    let survived = 0;
    for (const [n, mutant] of left.entries()) {
      progress({ done: n, all: left.length, survived, begin });
      const by = await killerOf(runner, mutant, { tests: testsOf(mutant.file), longest, took: baseline.took });
      verdicts.add(mutant, by);
      if (by !== null) continue;
      survived += 1;
      process.stderr.write(`${process.stderr.isTTY ? "\r\x1b[K" : ""}survived ${describe(mutant)}\n`);
    }
    progress({ done: left.length, all: left.length, survived, begin });
    process.stderr.write("\n");
    return true;
  } finally {
    runner.close();
  }
}

/** Returns what failed, or `null`. Runs the tests nearest to the mutant first and the slow ones last. */
async function killerOf(runner, mutant, { tests, longest, took }) {
  const near = tests.filter((test) => isNear(mutant.file, test));
  const far = tests.filter((test) => !near.includes(test) && (took[test] ?? 0) <= longest * 1000);
  far.sort((a, b) => (took[a] ?? 0) - (took[b] ?? 0));
  const restore = mutate(mutant);
  try {
    for (const batch of [near, far]) {
      const usual = batch.reduce((sum, test) => sum + (took[test] ?? 0), 0);
      const timeoutMs = SLOWER * usual + TIMEOUT_MARGIN_MS;
      const { failed, by } = batch.length > 0 ? await runner.run(mutant.file, { tests: batch, timeoutMs }) : {};
      if (failed) return by;
    }
    return null;
  } finally {
    restore();
  }
}

/** Changes the source, and returns the function that restores it; a signal restores it too. */
function mutate({ file, at, from, to }) {
  const text = readFileSync(file, "utf8");
  mkdirSync(dirname(ORIGINAL), { recursive: true });
  writeFileSync(ORIGINAL, JSON.stringify({ file, text }));
  const stop = () => process.exit(130);
  const restore = () => {
    writeFileSync(file, text);
    rmSync(ORIGINAL, { force: true });
    process.off("exit", restore).off("SIGINT", stop).off("SIGTERM", stop);
  };
  process.once("exit", restore).once("SIGINT", stop).once("SIGTERM", stop);
  writeFileSync(file, text.slice(0, at) + to + text.slice(at + from.length));
  return restore;
}

function restoreAfterKill() {
  for (const { file, text } of linesOf(ORIGINAL).map((line) => JSON.parse(line))) {
    writeFileSync(file, text);
    console.error(`restored ${relative(root, file)}, which a killed run had left mutated`);
  }
  rmSync(ORIGINAL, { force: true });
}

function linesOf(file) {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

/** Verdicts of this run and, with `keep`, of earlier runs over the same source text. */
function openVerdicts({ keep, survivorsAgain }) {
  mkdirSync(dirname(VERDICTS), { recursive: true });
  if (!keep) rmSync(VERDICTS, { force: true });
  const hashOf = (file) => createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16);
  const keyOf = ({ file, at, from, to }) => [relative(root, file), hashOf(file), at, from.length, to].join(" ");
  const known = new Map();
  for (const { key, by } of linesOf(VERDICTS).map((line) => JSON.parse(line))) known.set(key, by !== null);
  if (survivorsAgain) for (const [key, killed] of known) if (!killed) known.delete(key);
  return {
    of: (mutant) => known.get(keyOf(mutant)),
    add: (mutant, by) => {
      known.set(keyOf(mutant), by !== null);
      appendFileSync(VERDICTS, `${JSON.stringify({ key: keyOf(mutant), by })}\n`);
    },
  };
}

function report(chosen, { folders, testsOf, verdicts }) {
  for (const folder of folders) {
    const inside = chosen.filter(({ file }) => file === folder || file.startsWith(`${folder}/`));
    const survivors = inside.filter((mutant) => verdicts.of(mutant) === false);
    console.log(`${relative(root, folder)}: ${inside.length - survivors.length} of ${inside.length} mutants killed`);
    for (const mutant of survivors)
      console.log(`  survived ${describe(mutant)}${testsOf(mutant.file).length === 0 ? "  (no test imports it)" : ""}`);
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
    /** Answers `{ failed, took }`, the milliseconds by test file. */
    run: (file, { tests, timeoutMs }) =>
      new Promise((done) => {
        child ??= start();
        const own = child;
        const end = (result, isBroken = false) => {
          clearTimeout(timer);
          own.removeAllListeners();
          if (isBroken) {
            own.kill("SIGKILL");
            child = null;
          }
          done(result);
        };
        const timer = setTimeout(() => end({ failed: true, took: {}, by: "the time limit" }, true), timeoutMs);
        own.once("message", (result) => end(result));
        own.once("exit", () => end({ failed: true, took: {}, by: "the end of the worker" }, true));
        own.send({ file, tests });
      }),
    close: () => child?.kill("SIGKILL"),
  };
}

async function serveRuns() {
  const { BaseSequencer, createVitest } = await import("vitest/node");
  let order = [];
  class AsRequested extends BaseSequencer {
    async sort(specs) {
      return specs.toSorted((a, b) => order.indexOf(a.moduleId) - order.indexOf(b.moduleId));
    }
  }
  const vitest = await createVitest("test", {
    root,
    watch: false,
    project: ["unit"],
    bail: 1,
    pool: "threads",
    reporters: [{}],
    fileParallelism: false,
    maxWorkers: 1,
    sequence: { sequencer: AsRequested },
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
    order = tests;
    const specs = await vitest.globTestSpecifications(tests.map((test) => relative(root, test)));
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specs, false);
    const failing = testModules.find((one) => !one.ok());
    const failed = failing !== undefined || unhandledErrors.length > 0;
    const test = failing && [...failing.children.allTests("failed")][0]?.fullName;
    const by = failing ? `${relative(root, failing.moduleId)} > ${test ?? "(not loaded)"}` : "an unhandled error";
    const took = Object.fromEntries(testModules.map((one) => [one.moduleId, one.diagnostic().duration]));
    process.send({ failed, took, by });
  });
}

/** Seconds of each test file as `npm test -- --record-times` recorded them; unrecorded files are short. */
function recordedSeconds() {
  const recorded = JSON.parse(readFileSync(join(root, "tests/harness/test-times.json"), "utf8"));
  return (test) => recorded[relative(root, test)] ?? 0;
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

// ---- output

function describe({ file, at, from, to }) {
  const text = readFileSync(file, "utf8");
  const line = text.slice(0, at).split("\n").length;
  const short = (part) => part.replace(/\s+/g, " ").slice(0, 60);
  const context = short((text.split("\n")[line - 1] ?? "").trim());
  return `${relative(root, file)}:${line}  ${short(from)}  ->  ${short(to) || "(deleted)"}    in: ${context}`;
}

function progress({ done, all, survived, begin }) {
  const width = 30;
  const filled = Math.round((width * done) / Math.max(1, all));
  const left = done === 0 ? "" : `, ${Math.round(((Date.now() - begin) / done / 1000) * (all - done))} s left`;
  const line = `[${"#".repeat(filled)}${".".repeat(width - filled)}] ${done}/${all}, ${survived} survived${left}`;
  if (process.stderr.isTTY) process.stderr.write(`\r${line}   `);
  else if (done % 10 === 0) process.stderr.write(`${line}\n`);
}
