// Builds every program into `packages/X/dist`, each from one entry, so that an installed program starts from a few files.
// A program with unchanged sources is skipped: a record next to the bundle has its inputs and their hash. Outputs are
// replaced by rename, so that a program that starts meanwhile sees the old or the new bundle.
//
//   node tools/build.mjs [--force] [--quiet] [program ...]
//   node tools/build.mjs --into=FOLDER --version=current|next [program ...]
//
// The second form is for tests of servers of two versions on one log. The made-up next version adds one command:
// programs built as `next` have it, programs built as `current` do not know it.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compile, findPmix, hasCompiler } from "./build/native.mjs";
import { programs } from "./build/programs.mjs";
import { narrowImports } from "./narrow-imports.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** A change of the tools rebuilds every program. */
const TOOL_FILES = ["tools/build.mjs", "tools/build/native.mjs", "tools/narrow-imports.mjs"];

/** Bundled CommonJS calls `require`, which an ES module does not have. */
const requireBanner = [
  `import { createRequire as latticeCreateRequire } from "node:module";`,
  `const require = latticeCreateRequire(import.meta.url);`,
].join("\n");

/** Some bundled CommonJS also uses its own path. */
const pathBanner = [
  `import { fileURLToPath as latticeFileURLToPath } from "node:url";`,
  `const __filename = latticeFileURLToPath(import.meta.url);`,
  `const __dirname = latticeFileURLToPath(new URL(".", import.meta.url));`,
].join("\n");

export async function buildAll({ force = false, quiet = false, only = [] } = {}) {
  const known = programs.map((program) => program.name);
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`Unknown program "${unknown}". Programs: ${known.join(", ")}`);
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
      say(`  ${program.name}: skipped, no C compiler found`);
      continue;
    }
    if (program.pmix === true && findPmix() === null) {
      say(`  ${program.name}: skipped, libpmix with headers not found`);
      continue;
    }
    if (program.native !== true) esbuild ??= await import("esbuild");
    try {
      const bytes = program.native === true ? buildNative(program) : await buildOne(esbuild, program);
      say(`  ${program.name}: built in ${Date.now() - startedAt} ms, ${Math.round(bytes / 1024)} kB`);
    } catch (error) {
      // esbuild has already printed the errors in the sources.
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
 * The hash covers our own sources and manifests by content, and third-party code by the lock file, which has a checksum
 * of every version.
 */
function hashInputs(program, inputs) {
  const hash = createHash("sha256");
  const manifests = ["package.json", "package-lock.json", ...TOOL_FILES];
  for (const file of [...manifests, ...inputs].toSorted()) {
    const path = join(root, file);
    if (!existsSync(path)) return "missing";
    hash.update(file).update("\0").update(readFileSync(path)).update("\0");
  }
  hash.update(JSON.stringify(program));
  return hash.digest("hex");
}

export async function buildVersion({ into, version, only }) {
  const esbuild = await import("esbuild");
  for (const program of programs.filter(({ name }) => only.includes(name))) {
    await esbuild.build({ ...settingsOf(program, replacementsFor(version)), outdir: into });
  }
  await esbuild.stop();
  // Outside the workspace the bundles need a manifest and a link to the native modules.
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

/** `import()` becomes `require`, which avoids starting the ES module loader. */
const scriptSettings = { outExtension: { ".js": ".cjs" }, supported: { "dynamic-import": false } };

/** Loads child_process on first use: commander needs it only for executable subcommands, which we do not have. */
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
  return { js: split === true ? requireBanner : `${requireBanner}\n${pathBanner}` };
}

function buildNative(program) {
  const dist = distOf(program);
  const { inputs, output } = compile(root, program, dist);
  writeByRename(recordOf(program), JSON.stringify({ hash: hashInputs(program, inputs), inputs, outputs: [output] }));
  return readFileSync(join(dist, output)).length;
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
  // Virtual modules are no files; this tool's own file is part of the hash.
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
 * Marks our packages and these libraries as free of side effects, so that unused code is dropped. This saves most of the
 * start time of the CLI.
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

/** The table of a made-up next version, and the source that it replaces. */
const NEXT_VERSION = "tests/doubles/next-version.ts";
const VERSIONS = "packages/core/src/base/versions.ts";
const HANDLERS = "packages/core/src/handlers.ts";

/** Replaces the text of one source file while a bundle is built. */
const replaceSource = (file, read) => ({
  name: `replace ${file}`,
  setup(build) {
    build.onLoad({ filter: new RegExp(`${file.replaceAll(/[/.]/g, "\\$&")}$`) }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const contents = read(text);
      if (contents === text) throw new Error(`nothing of ${file} was replaced`);
      return { contents, loader: "ts" };
    });
  },
});

/** A program of the next version has its table; a program of the current version does not know the new commands. */
function replacementsFor(version) {
  const next = readFileSync(join(root, NEXT_VERSION), "utf8");
  if (version === "next") return [replaceSource(VERSIONS, () => next)];
  const added = [...next.matchAll(/^ {2}("[a-z_.]+"): \d+,$/gm)].map((match) => match[1]);
  const isNew = (line) => added.some((kind) => line.startsWith(`  ${kind}: `));
  return [
    replaceSource(HANDLERS, (text) =>
      text
        .split("\n")
        .filter((line) => !isNew(line))
        .join("\n"),
    ),
  ];
}

/** Skipped on machines without Python. */
function buildSynchronousPythonClient() {
  const done = spawnSync("python3", ["-B", join(root, "sdks/python/tools/make_sync.py")], { encoding: "utf8" });
  if (done.status !== 0 && done.error === undefined) throw new Error(`make_sync.py failed: ${done.stderr}`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2);
  const only = args.filter((arg) => !arg.startsWith("--"));
  const optionOf = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const into = optionOf("into");
  try {
    if (into !== undefined) await buildVersion({ into, version: optionOf("version"), only });
    else await buildAll({ force: args.includes("--force"), quiet: args.includes("--quiet"), only });
    if (into === undefined && only.length === 0) buildSynchronousPythonClient();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
