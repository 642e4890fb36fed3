// Allowed imports between packages and folders. npm hoists workspaces, so an import that no package.json declares still
// resolves; these tests are what makes the layers real.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importsOf, packageNameOf, resolveRelative } from "./imports.ts";
import { allFiles, code, inPackages, packageOf, read, root } from "./sources.ts";

const LAYERS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  scheduler: ["core"],
  wire: ["core"],
  sdk: ["wire", "core"],
  cli: ["sdk", "wire", "core"],
  agent: ["wire", "core"],
  server: ["wire", "scheduler", "core"],
  replay: ["scheduler", "core"],
};
/**
 * The rooms of a package: the folders of its `src`, from bottom to top. A file imports, by value or by type, from its own
 * room and from lower ones. Files directly in `src` are the top of the package.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  core: ["base", "model", "state", "queries", "transitions", "commands"],
  server: ["base", "log", "state", "nodes", "lead", "api", "peers", "main"],
  agent: [
    ...["base", "files", "lifecycle", "discovery", "condition", "images", "gpu-clear", "host", "network", "checkpoint"],
    ...["link", "identity", "logs", "metrics", "probes", "terminal", "tasks", "runtime", "state", "telemetry"],
    ...["node", "hollow", "options", "agent"],
  ],
};
/** Outside the packages nothing but the contract may be used: those tests and benches are black boxes. */
const OUTSIDE_MAY_USE = ["wire"];
/** The simulation puts the parts of a cluster together itself: it lives on the far side of every layer. */
const SIMULATION_MAY_USE = ["core", "wire", "server", "agent"];
/** The chaos folds the log once more, apart from every server. */
const CHAOS_MAY_USE = ["core"];
const mayUse = (path: string): readonly string[] => {
  if (path.startsWith("tests/chaos/")) return CHAOS_MAY_USE;
  return path.startsWith("tests/simulation/") ? SIMULATION_MAY_USE : OUTSIDE_MAY_USE;
};
/** Stand-ins for systems of others, for the tests of packages and of whole clusters alike. */
const DOUBLES = "tests/doubles/";
/** The invariants of the state belong to the tests of core; the simulation and the chaos check them too. */
const INVARIANTS = "packages/core/test/invariants/";
const isShared = (source: { readonly path: string }, target: string): boolean =>
  (isTest(source.path) && target.startsWith(DOUBLES)) ||
  (/^tests\/(simulation|chaos)\//.test(source.path) && target.startsWith(INVARIANTS));
const isTest = (path: string): boolean => /^packages\/[^/]+\/test\//.test(path);
/** The simulation runs the real parts in one process, so it sees the public surface of all of them. */
const SIMULATION = "tests/simulation/";

describe("packages", () => {
  test("every package has its place in the layers", () => {
    const packages = readdirSync(join(root, "packages"));
    const homeless = packages.filter((name) => LAYERS[name] === undefined);
    expect(homeless, "add the package to LAYERS here and to docs/ARCHITECTURE.md").toEqual([]);
  });

  test("package.json declares only packages of lower layers", () => {
    const wrong = Object.keys(LAYERS).flatMap((name) =>
      dependenciesOf(name)
        .filter((dependency) => dependency.startsWith("@lattice/"))
        .filter((dependency) => !LAYERS[name]?.includes(dependency.slice("@lattice/".length)))
        .map((dependency) => `packages/${name}/package.json declares ${dependency}`),
    );
    expect(wrong, "move what is shared down a layer instead of importing upwards").toEqual([]);
  });

  test("a package imports only what its package.json declares", () => {
    const wrong = inPackages.flatMap((source) => {
      const declared = dependenciesOf(packageOf(source.path) ?? "");
      return bareImports(source)
        .filter((specifier) => !declared.includes(packageNameOf(specifier)))
        .map((specifier) => `${source.path} imports ${specifier}`);
    });
    expect(wrong, "declare it in that package's package.json, if its layer may use it at all").toEqual([]);
  });

  test("imports cross a border through the index alone", () => {
    const wrong = code.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => /^@lattice\/[^/]+\//.test(specifier))
        .map((specifier) => `${source.path} imports ${specifier}`),
    );
    expect(wrong, "import from @lattice/<package> and export the name from its src/index.ts").toEqual([]);
  });

  test("relative imports stay inside their package, except for doubles and invariants in tests", () => {
    const wrong = code.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => specifier.startsWith("."))
        .filter((specifier) => packageOf(resolveRelative(source, specifier)) !== packageOf(source.path))
        .filter((specifier) => !isShared(source, resolveRelative(source, specifier)))
        .map((specifier) => `${source.path} imports ${specifier}`),
    );
    expect(wrong, "import another package by its name, @lattice/<package>").toEqual([]);
  });

  test("doubles of other systems know nothing of ours", () => {
    const wrong = code
      .filter(({ path }) => path.startsWith(DOUBLES))
      .flatMap((source) =>
        importsOf(source)
          .filter((specifier) => !specifier.startsWith("node:") && !specifier.startsWith("./"))
          .map((specifier) => `${source.path} imports ${specifier}`),
      );
    expect(wrong, "what a double shares with its system is the protocol between them").toEqual([]);
  });

  test("code outside the packages is a black box: it may use the contract only", () => {
    const wrong = code
      .filter(({ path }) => packageOf(path) === null && !path.startsWith(SIMULATION))
      .flatMap((source) =>
        importsOf(source)
          .filter((specifier) => specifier.startsWith("@lattice/"))
          .filter((specifier) => !mayUse(source.path).includes(specifier.slice("@lattice/".length)))
          .map((specifier) => `${source.path} imports ${specifier}`),
      );
    expect(wrong, "start the built program and speak to it over its interfaces").toEqual([]);
  });
});

describe("rooms", () => {
  test.each(Object.keys(ROOMS))("every folder of %s is a room with a place in ROOMS", (name) => {
    const found = filesOf(name).flatMap(({ path }) => folderOf(path, `packages/${name}/src/`) ?? []);
    const folders = [...new Set(found)].filter((folder) => folder !== ".");
    expect(folders.filter((folder) => !ROOMS[name]?.includes(folder))).toEqual([]);
    expect(ROOMS[name]?.filter((room) => !folders.includes(room))).toEqual([]);
  });

  test.each(Object.entries(ROOMS))("the rooms of %s import lower rooms only", (name, rooms) => {
    const height = (path: string): number => {
      const folder = folderOf(path, `packages/${name}/src/`);
      // Generated code lies outside `src` and imports nothing of it.
      if (folder === null) return -1;
      return folder === "." ? rooms.length : rooms.indexOf(folder);
    };
    const wrong = filesOf(name).flatMap((source) =>
      localImports(source)
        .filter((target) => height(target) > height(source.path))
        .map((target) => `${source.path} imports ${target}`),
    );
    expect(wrong, "move the shared part to a lower room").toEqual([]);
  });

  /** Every folder in a room that has folders; the room's own rank is in ROOMS. */
  const nested = Object.keys(ROOMS).flatMap((name) =>
    filesOf(name).flatMap(({ path }) => foldersAbove(path, `packages/${name}/src`)),
  );
  test.each([...new Set(nested)].sort())("the folders of %s do not import each other in a cycle", (room) => {
    const name = room.split("/")[1] ?? "";
    const prefix = `${room}/`;
    const next = new Map<string, string[]>();
    for (const source of filesOf(name)) {
      const folder = folderOf(source.path, prefix);
      if (folder === null) continue;
      const targets = localImports(source).flatMap((target) => folderOf(target, prefix) ?? []);
      next.set(folder, [...(next.get(folder) ?? []), ...targets.filter((target) => target !== folder)]);
    }
    expect(findCycle(next), "move the shared part to a lower folder").toBeNull();
  });
});

describe("files", () => {
  test("relative imports name an existing file, with its ending", () => {
    const known = new Set(allFiles);
    const wrong = code.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => specifier.startsWith("."))
        .filter((specifier) => !known.has(resolveRelative(source, specifier)) && !isDerived(specifier))
        .map((specifier) => `${source.path} imports ${specifier}`),
    );
    expect(wrong, "write the file's whole name, .ts included").toEqual([]);
  });

  test.each(Object.keys(LAYERS))("no two files of %s import each other, not even types", (name) => {
    const files = code.filter(({ path }) => packageOf(path) === name);
    const next = new Map(files.map((source) => [source.path, localImports(source)]));
    expect(findCycle(next), "move what both need into a third file").toBeNull();
  });
});

const filesOf = (name: string) => code.filter(({ path }) => path.startsWith(`packages/${name}/src/`));

/** The first folder of a path below a prefix, "." for a file directly there, or null for a file elsewhere. */
function folderOf(path: string, prefix: string): string | null {
  if (!path.startsWith(prefix)) return null;
  const [first = "", ...rest] = path.slice(prefix.length).split("/");
  return rest.length === 0 ? "." : first;
}

/** The folders between `src` and the folder of the file, without both. */
function foldersAbove(path: string, src: string): readonly string[] {
  if (!path.startsWith(`${src}/`)) return [];
  const parts = path.slice(src.length + 1).split("/");
  return parts.slice(0, -2).map((_, i) => [src, ...parts.slice(0, i + 1)].join("/"));
}

function dependenciesOf(name: string): readonly string[] {
  if (!allFiles.includes(`packages/${name}/package.json`)) return [];
  const manifest: unknown = JSON.parse(read(`packages/${name}/package.json`).text);
  const { dependencies } = manifest as { readonly dependencies?: Readonly<Record<string, string>> };
  return Object.keys(dependencies ?? {});
}

function bareImports(source: { readonly path: string; readonly text: string }): readonly string[] {
  return importsOf(source).filter((specifier) => !specifier.startsWith(".") && !specifier.startsWith("node:"));
}

/** Generated code and bundles are not among the files that people wrote. */
function isDerived(specifier: string): boolean {
  return /\/(gen|dist)\//.test(specifier);
}

function localImports(source: { readonly path: string; readonly text: string }): readonly string[] {
  return importsOf(source)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => resolveRelative(source, specifier));
}

/** The files of one cycle, in order, or null. */
function findCycle(next: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): readonly string[] | null => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return null;
    for (const target of next.get(path) ?? []) {
      const cycle = visit(target, [...way, path]);
      if (cycle !== null) return cycle;
    }
    done.add(path);
    return null;
  };
  for (const path of next.keys()) {
    const cycle = visit(path, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
