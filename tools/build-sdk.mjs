// Builds the TypeScript SDK as an npm package in `packages/sdk/dist/package`: one self-contained module for Node and one
// for browsers, with declarations. Inside this repository packages are imported by their sources, so the built package
// has its own manifest.
//
//   node tools/build-sdk.mjs            then: npm pack packages/sdk/dist/package

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const sdk = join(root, "packages", "sdk");
const target = join(sdk, "dist", "package");

/** The declarations of the packages that the SDK imports, by package name. */
const SURFACES = { "@lattice/wire": "wire/src/index.d.ts", "@lattice/core": "core/src/index.d.ts" };

mkdirSync(join(sdk, "dist"), { recursive: true });
const staged = mkdtempSync(join(sdk, "dist", ".package-"));

async function bundle(name, platform) {
  await build({
    absWorkingDir: root,
    entryPoints: { [name]: `packages/sdk/src/${name}.ts` },
    outdir: staged,
    bundle: true,
    format: "esm",
    platform,
    target: platform === "node" ? "node20" : "es2022",
    treeShaking: true,
    legalComments: "none",
    logLevel: "warning",
    plugins: [onlyDefinitions],
  });
}

/** Marks our packages and these libraries as free of side effects, so that unused code is dropped. */
const onlyDefinitions = {
  name: "only-definitions",
  setup(builder) {
    const inner = Symbol("resolved by this plugin");
    builder.onResolve({ filter: /^(\.|@lattice\/|yaml$|@bufbuild\/protobuf)/ }, async (args) => {
      if (args.pluginData === inner || args.kind === "entry-point") return undefined;
      const { kind, importer, resolveDir } = args;
      const found = await builder.resolve(args.path, { kind, importer, resolveDir, pluginData: inner });
      return found.errors.length > 0 ? { errors: found.errors } : { ...found, sideEffects: false };
    });
  },
};

/** Generates all declarations and keeps the ones that the two entry points need. */
function declare() {
  const all = mkdtempSync(join(sdk, "dist", ".types-"));
  try {
    const flags = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--rootDir", "packages"];
    const config = join(all, "tsconfig.json");
    const settings = {
      extends: "../../../../tsconfig.base.json",
      compilerOptions: { types: ["node"], lib: ["ES2023", "DOM"] },
      include: ["../../src", "../../gen", "../../../wire/src", "../../../wire/gen", "../../../core/src"],
    };
    writeFileSync(config, JSON.stringify(settings));
    const tsc = join(root, "node_modules", ".bin", "tsc");
    const done = spawnSync(tsc, ["-p", config, ...flags, "--outDir", all], { cwd: root, stdio: "inherit" });
    if (done.status !== 0) throw new Error("tsc could not generate the declarations; its output is above");
    const seen = new Set();
    for (const name of ["index", "browser"]) {
      keep(all, `sdk/src/${name}.d.ts`, seen);
      writeFileSync(join(staged, `${name}.d.ts`), `export * from "./types/sdk/src/${name}.js";\n`);
    }
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

const IMPORT = /((?:import|export)(?:\s+type)?\s+(?:\{([^}]*)\}|\*(?:\s+as\s+\w+)?)\s+from\s+)"([^"]+)";/g;

/** Copies a file and its imports. Names from a package's index are imported from the file that declares them. */
function keep(all, file, seen) {
  if (seen.has(file)) return;
  seen.add(file);
  const text = withinTypes(all, file, seen).replaceAll(IMPORT, (_, head, names, from) => {
    if (from.startsWith(".")) {
      const other = resolved(file, from);
      keep(all, other, seen);
      return `${head}"${jsName(from)}";`;
    }
    const surface = SURFACES[from];
    if (surface === undefined) throw new Error(`${file} imports ${from}, which is not part of the package`);
    if (names === undefined) throw new Error(`${file} imports all of ${from}; import single names`);
    return listOf(names)
      .map((name) => {
        const { plain } = name;
        const place = declaredIn(all, surface, plain);
        if (place === null) throw new Error(`${file} imports ${plain}, which ${from} does not declare`);
        keep(all, place, seen);
        const word = head.startsWith("export") ? "export" : "import";
        return `${word} type { ${name.written} } from "${jsName(pathBetween(file, place))}";`;
      })
      .join("\n");
  });
  const place = join(staged, "types", file);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
}

/** Rewrites `import("./x.ts").Name`, which the compiler writes for types that are not imported by name. */
const withinTypes = (all, file, seen) =>
  readFileSync(join(all, file), "utf8").replaceAll(/import\("([^"]+)"\)/g, (_, from) => {
    if (!from.startsWith(".")) throw new Error(`${file} imports ${from} inside a type`);
    keep(all, resolved(file, from), seen);
    return `import("${jsName(from)}")`;
  });

const listOf = (names) =>
  names
    .split(",")
    .map((name) => name.replace(/^\s*type\s+/, "").trim())
    .filter((name) => name !== "")
    .map((written) => ({ written, plain: written.split(/\s+as\s+/)[0] }));

/** Returns the declaring file, or null. */
function declaredIn(all, file, name) {
  const text = readFileSync(join(all, file), "utf8");
  const declares = new RegExp(`export (declare )?(abstract )?(class|interface|type|const|function|enum) ${name}\\b`);
  if (declares.test(text)) return file;
  for (const [, head, names, from] of text.matchAll(IMPORT)) {
    if (!head.startsWith("export") || !from.startsWith(".")) continue;
    if (names !== undefined && !listOf(names).some(({ plain }) => plain === name)) continue;
    const other = resolved(file, from);
    const found = existsSync(join(all, other)) ? declaredIn(all, other, name) : null;
    if (found !== null) return found;
  }
  return null;
}

const resolved = (file, from) => join(dirname(file), from).replace(/\.ts$/, ".d.ts");
const jsName = (path) => path.replace(/(\.d)?\.ts$/, ".js");
const pathBetween = (file, place) => {
  const path = relative(dirname(file), place);
  return path.startsWith(".") ? path : `./${path}`;
};

function manifest() {
  const { name, version, license } = JSON.parse(readFileSync(join(sdk, "package.json"), "utf8"));
  return {
    name,
    version,
    license,
    description: "Client of the Lattice workload scheduler, for Node and browsers",
    type: "module",
    engines: { node: ">=20.19" },
    sideEffects: false,
    exports: {
      ".": {
        types: "./index.d.ts",
        browser: { types: "./browser.d.ts", default: "./browser.js" },
        default: "./index.js",
      },
      "./browser": { types: "./browser.d.ts", default: "./browser.js" },
    },
    types: "./index.d.ts",
  };
}

function readme() {
  return `# @lattice/sdk

Client of the Lattice workload scheduler, for Node 20 and browsers.

    import { createClient } from "@lattice/sdk";

    const client = createClient({ url: "http://localhost:8080" });
    const { id } = await client.submit({ entrypoint: "echo hello" });
    for await (const event of client.watch({ allocation_id: id })) console.log(event.kind);

In a browser import "@lattice/sdk/browser"; bundlers choose it by themselves.
`;
}

try {
  await bundle("index", "node");
  await bundle("browser", "browser");
  declare();
  writeFileSync(join(staged, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
  writeFileSync(join(staged, "README.md"), readme());
  cpSync(join(root, "LICENSE"), join(staged, "LICENSE"));
  rmSync(target, { recursive: true, force: true });
  renameSync(staged, target);
  console.log(`  TypeScript SDK: ${relative(root, target)}`);
} finally {
  rmSync(staged, { recursive: true, force: true });
}
