// Bundles every program into `packages/X/dist`, each from one entry, so that an installed program
// starts from a few files. A program whose sources have not changed since its last build is left
// alone: the record beside the bundle names its inputs and their hash. Outputs are written by
// rename, so that a program started meanwhile sees the old bundle or the new one.
//
//   node tools/build.mjs [--force] [--quiet] [program ...]
//   node tools/build.mjs --into=FOLDER --entry-version=N [program ...]
//
// The second form is for tests alone: programs that read, write and announce log entries up to
// version N, as those of an older release do, beside the ones that are shipped.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { narrowImports } from "./narrow-imports.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Bundled CommonJS asks for `require`; an ES module has none of its own. */
const requireBanner = [
  `import { createRequire as latticeCreateRequire } from "node:module";`,
  `const require = latticeCreateRequire(import.meta.url);`,
].join("\n");

/** Some bundled CommonJS also asks where it lies. */
const placeBanner = [
  `import { fileURLToPath as latticeFileURLToPath } from "node:url";`,
  `const __filename = latticeFileURLToPath(import.meta.url);`,
  `const __dirname = latticeFileURLToPath(new URL(".", import.meta.url));`,
].join("\n");

/**
 * `external`: modules with native parts, found beside the package at run time.
 * `split`: each dynamically imported command becomes its own chunk.
 * `script`: one file that is required, which Node loads sooner than a module.
 * `native`: C, all files of the entry's folder; left out where there is no compiler, since another program stands in.
 * `shared`: a library that is loaded into programs. `pmix`: needs libpmix with its headers; left out where there is none.
 */
const programs = [
  { name: "lattice", entry: "packages/cli/src/main.ts", split: true },
  { name: "lattice-launch", entry: "packages/cli/src/launch-main.ts", script: true, external: ["yaml"] },
  { name: "lattice-launch-native", entry: "packages/cli/native/lattice-launch.c", native: true },
  { name: "lattice-mpi-launcher", entry: "packages/cli/src/mpi-launcher.ts" },
  { name: "lattice-slurm", entry: "packages/cli/src/slurm/main.ts", split: true },
  { name: "lattice-server", entry: "packages/server/src/main.ts", external: ["@photostructure/sqlite"] },
  {
    name: "history-worker",
    entry: "packages/server/src/history/worker.ts",
    external: ["@photostructure/sqlite"],
    optional: true,
  },
  { name: "lattice-agent", entry: "packages/agent/src/main.ts" },
  { name: "lattice-standby", entry: "packages/agent/native/standby/lattice-standby.c", native: true },
  { name: "lattice-enter", entry: "packages/agent/native/enter/lattice-enter.c", native: true },
  {
    name: "lattice-mpi-finalize",
    entry: "packages/agent/native/finalize/lattice-mpi-finalize.c",
    native: true,
    shared: true,
  },
  { name: "lattice-pmix", entry: "packages/agent/native/pmix/lattice-pmix.c", native: true, pmix: true },
  { name: "lattice-shepherd", entry: "packages/agent/src/tasks/shepherd/main.ts" },
  { name: "lattice-gateway", entry: "packages/agent/src/network/gateway/main.ts" },
  { name: "lattice-gpu-probe", entry: "packages/agent/src/discovery/gpus/main.ts", external: ["koffi"] },
  { name: "lattice-gpu-clear", entry: "packages/agent/src/gpu-clear/main.ts", external: ["koffi"] },
  {
    name: "lattice-device-filter",
    entry: "packages/agent/src/runtime/isolation/devices/main.ts",
    external: ["koffi"],
  },
  { name: "rm-replay", entry: "packages/replay/src/main.ts" },
];

export async function buildAll({ force = false, quiet = false, only = [] } = {}) {
  const known = programs.map((program) => program.name);
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`No program is called "${unknown}". Programs: ${known.join(", ")}`);
  const chosen = programs.filter((program) => only.length === 0 || only.includes(program.name));
  const say = quiet ? () => {} : (line) => console.log(line);
  const failed = [];
  let esbuild = null;
  for (const program of chosen) {
    if (!existsSync(join(root, program.entry))) {
      if (program.optional) continue;
      say(`  ${program.name}: ${program.entry} is missing`);
      failed.push(program.name);
      continue;
    }
    if (!force && isCurrent(program)) {
      say(`  ${program.name}: up to date`);
      continue;
    }
    const startedAt = Date.now();
    if (program.native === true && !hasCompiler()) {
      say(`  ${program.name}: there is no C compiler; left out`);
      continue;
    }
    if (program.pmix === true && findPmix() === null) {
      say(`  ${program.name}: libpmix with its headers is not installed; left out`);
      continue;
    }
    if (program.native !== true) esbuild ??= await import("esbuild");
    try {
      const bytes = program.native === true ? compileOne(program) : await buildOne(esbuild, program);
      say(`  ${program.name}: built in ${Date.now() - startedAt} ms, ${Math.round(bytes / 1024)} kB`);
    } catch (error) {
      // esbuild has already printed what is wrong with the sources.
      if (!Array.isArray(error.errors)) console.error(error);
      failed.push(program.name);
    }
  }
  await esbuild?.stop();
  if (failed.length > 0) throw new Error(`Not built: ${failed.join(", ")}`);
}

const distOf = (program) => join(root, program.entry.split("/").slice(0, 2).join("/"), "dist");
const recordOf = (program) => join(distOf(program), `.${program.name}.build.json`);

function isCurrent(program) {
  const record = readRecord(program);
  if (record === null) return false;
  if (!record.outputs.every((file) => existsSync(join(distOf(program), file)))) return false;
  const hash = hashInputs(program, record.inputs);
  return hash !== "missing" && record.hash === hash;
}

function readRecord(program) {
  try {
    return JSON.parse(readFileSync(recordOf(program), "utf8"));
  } catch {
    return null;
  }
}

/**
 * The hash covers our own sources and manifests file by file, and third-party code by the lock
 * file, which names every version by its checksum.
 */
function hashInputs(program, inputs) {
  const hash = createHash("sha256");
  const manifests = ["package.json", "package-lock.json", "tools/build.mjs", "tools/narrow-imports.mjs"];
  for (const file of [...manifests, ...inputs].toSorted()) {
    const path = join(root, file);
    if (!existsSync(path)) return "missing";
    hash.update(file).update("\0").update(readFileSync(path)).update("\0");
  }
  hash.update(JSON.stringify(program));
  return hash.digest("hex");
}

export async function buildOlder({ into, entryVersion, only }) {
  const esbuild = await import("esbuild");
  for (const program of programs.filter(({ name }) => only.includes(name))) {
    await esbuild.build({ ...settingsOf(program, [olderEntries(entryVersion)]), outdir: into });
  }
  await esbuild.stop();
  // Outside of the workspace nothing says that these are modules, or where the native ones are.
  writeFileSync(join(into, "package.json"), JSON.stringify({ type: "module" }));
  symlinkSync(join(root, "node_modules"), join(into, "node_modules"));
}

function settingsOf(program, plugins = []) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return {
    absWorkingDir: root,
    entryPoints: { [program.name]: program.entry },
    entryNames: "[name]",
    chunkNames: `${program.name}-[name]-[hash]`,
    bundle: true,
    splitting: program.split === true,
    format: program.script === true ? "cjs" : "esm",
    ...(program.script === true ? scriptSettings : {}),
    platform: "node",
    target: "node20",
    external: program.external ?? [],
    banner: bannerOf(program),
    define: { LATTICE_VERSION: JSON.stringify(version) },
    minifySyntax: true,
    minifyWhitespace: program.split === true || program.script === true,
    legalComments: "none",
    logLevel: "warning",
    plugins: [
      ...plugins,
      ...(program.script === true ? [childProcessLater] : []),
      ...(program.split === true ? [narrowImports(root)] : []),
      withoutSideEffects,
    ],
  };
}

/** The loader of modules is not begun for `import()` of what can be required. */
const scriptSettings = { outExtension: { ".js": ".cjs" }, supported: { "dynamic-import": false } };

/** Commander loads it for commands that are programs of their own, of which we have none. */
const childProcessLater = {
  name: "child-process-later",
  setup(build) {
    build.onResolve({ filter: /^node:child_process$/ }, ({ namespace }) =>
      namespace === "later"
        ? { path: "node:child_process", external: true }
        : { path: "child_process", namespace: "later" },
    );
    build.onLoad({ filter: /./, namespace: "later" }, () => ({
      contents: `exports.spawn = (...words) => require("node:child_process").spawn(...words);`,
    }));
  },
};

function bannerOf({ script, split }) {
  if (script === true) return {};
  return { js: split === true ? requireBanner : `${requireBanner}\n${placeBanner}` };
}

const hasCompiler = () => spawnSync("cc", ["--version"], { stdio: "ignore" }).status === 0;

/** Answers its size. */
function compileOne(program) {
  const dist = distOf(program);
  const folder = dirname(program.entry);
  const inputs = readdirSync(join(root, folder)).map((name) => join(folder, name));
  const output = `${basename(program.entry, ".c")}${program.shared === true ? ".so" : ""}`;
  const partial = join(dist, `.${output}.${process.pid}.partial`);
  mkdirSync(dist, { recursive: true });
  const sources = inputs.filter((file) => file.endsWith(".c"));
  const warnings = program.pmix === true ? [] : ["-Wall", "-Wextra"];
  const flags = ["-O2", ...warnings, "-D_GNU_SOURCE", ...(program.shared === true ? ["-shared", "-fPIC"] : [])];
  const libraries = program.pmix === true ? pmixFlags(findPmix()) : ["-ldl"];
  const done = spawnSync("cc", [...flags, "-o", partial, ...sources, ...libraries], { cwd: root, encoding: "utf8" });
  if (done.stderr !== "") console.error(done.stderr);
  if (done.status !== 0) throw Object.assign(new Error(`cc ended with ${done.status}`), { errors: [] });
  renameSync(partial, join(dist, output));
  writeByRename(recordOf(program), JSON.stringify({ hash: hashInputs(program, inputs), inputs, outputs: [output] }));
  return readFileSync(join(dist, output)).length;
}

const pmixFlags = ({ headers, folder }) => [
  ...["-I", headers, "-I", join(headers, "pmix")],
  ...["-L", folder, `-Wl,-rpath,${folder}`, "-lpmix", "-lpthread"],
];

/** Where distributions and sites put it, as the agent looks for it; null: it is not there. */
function findPmix() {
  const folders = existsSync("/usr/lib") ? readdirSync("/usr/lib").map((name) => join("/usr/lib", name)) : [];
  for (const place of [...folders.map((folder) => join(folder, "pmix2")), "/usr", "/usr/local", "/opt/pmix"]) {
    const headers = join(place, "include");
    if (!existsSync(join(headers, "pmix_server.h"))) continue;
    const folder = [join(place, "lib"), join(place, "lib64"), ...folders].find((each) =>
      existsSync(join(each, "libpmix.so")),
    );
    if (folder !== undefined) return { headers, folder };
  }
  return null;
}

async function buildOne(esbuild, program) {
  const dist = distOf(program);
  const result = await esbuild.build({
    ...settingsOf(program),
    outdir: relative(root, dist),
    metafile: true,
    write: false,
  });
  const previous = readRecord(program);
  mkdirSync(dist, { recursive: true });
  const outputs = [];
  for (const file of result.outputFiles) {
    writeByRename(file.path, file.contents);
    outputs.push(relative(dist, file.path));
  }
  for (const stale of previous?.outputs ?? []) {
    if (!outputs.includes(stale)) rmSync(join(dist, stale), { force: true });
  }
  // What is written above is no file of its own; this one is in the hash anyway.
  const ours = (file) => !file.includes("node_modules/") && !file.startsWith("later:");
  const inputs = Object.keys(result.metafile.inputs).filter(ours);
  const record = { hash: hashInputs(program, inputs), inputs, outputs };
  writeByRename(recordOf(program), JSON.stringify(record));
  return result.outputFiles.reduce((sum, file) => sum + file.contents.length, 0);
}

function writeByRename(path, contents) {
  const partial = join(dirname(path), `.${basename(path)}.${process.pid}.partial`);
  writeFileSync(partial, contents);
  renameSync(partial, path);
}

/**
 * Our packages and these libraries only define things when loaded; saying so lets a program leave
 * out what it does not use, which is most of the start time of the CLI.
 */
const withoutSideEffects = {
  name: "without-side-effects",
  setup(build) {
    const inner = Symbol("resolved by this plugin");
    const ours = /packages[\\/](core|wire|sdk|scheduler)[\\/]/;
    build.onResolve({ filter: /^(\.|@lattice\/|yaml$|@bufbuild\/protobuf)/ }, async (args) => {
      if (args.pluginData === inner || args.kind === "entry-point") return undefined;
      if (args.path.startsWith(".") && !ours.test(args.importer)) return undefined;
      const { path, namespace, external, errors } = await build.resolve(args.path, {
        kind: args.kind,
        importer: args.importer,
        resolveDir: args.resolveDir,
        pluginData: inner,
      });
      if (errors.length > 0) return { errors };
      return { path, namespace, external, sideEffects: false };
    });
  },
};

/** Where the sources know of versions, and how they read when nothing newer than `version` was there yet. */
const olderSources = (version) => [
  {
    file: "packages/core/src/version.ts",
    read: (text) =>
      text
        .replace(/(export const ENTRY_VERSION = )\d+;/, `$1${version};`)
        .split("\n")
        .filter((line) => isOld(/^ {2}"[a-z_.]+": (\w+),$/.exec(line)?.[1] ?? "FIRST", version))
        .join("\n"),
  },
  {
    file: "packages/server/src/controllers/ledger/decide.ts",
    read: (text) => text.replace(/(export const knowLedger = .*?=>)[^;]*;/s, "$1 false;"),
  },
];

const isOld = (value, version) => value === "FIRST" || Number(value) <= version;

const olderEntries = (version) => ({
  name: "older-entries",
  setup(build) {
    for (const { file, read } of olderSources(version)) {
      build.onLoad({ filter: new RegExp(`${file.replaceAll(/[/.]/g, "\\$&")}$`) }, ({ path }) => {
        const text = readFileSync(path, "utf8");
        const contents = read(text);
        if (contents === text) throw new Error(`nothing of ${file} is newer than version ${version}`);
        return { contents, loader: "ts" };
      });
    }
  },
});

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2);
  const only = args.filter((arg) => !arg.startsWith("--"));
  const optionOf = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const into = optionOf("into");
  try {
    if (into !== undefined) await buildOlder({ into, entryVersion: Number(optionOf("entry-version")), only });
    else await buildAll({ force: args.includes("--force"), quiet: args.includes("--quiet"), only });
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
