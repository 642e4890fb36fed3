// An esbuild plugin for programs that are split into chunks. A chunk loads everything its imports reach, and the index of
// a package reaches all of it; so the plugin redirects an import from one of our packages to the file that defines the
// name. Sources are unaffected: they import from the index.

import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const PACKAGES = ["core", "scheduler", "sdk", "wire"];
const IMPORT = /^import \{([^}]*)\} from "@lattice\/([a-z]+)";$/gms;
const PREFIX = "lattice-file:";

export const narrowImports = (root) => ({
  name: "narrow-imports",
  setup(build) {
    const indexes = new Map(PACKAGES.map((name) => [name, join(root, "packages", name, "src/index.ts")]));
    const known = new Map();
    const definitionsOf = (name) => {
      if (!known.has(name)) known.set(name, definedBy(indexes.get(name)));
      return known.get(name);
    };
    build.onLoad({ filter: /[\\/]packages[\\/][a-z]+[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const contents = text.replaceAll(IMPORT, (whole, names, from) =>
        indexes.has(from) ? narrowed(names, `@lattice/${from}`, definitionsOf(from)) : whole,
      );
      return { contents, loader: "ts" };
    });
    build.onResolve({ filter: new RegExp(`^${PREFIX}`) }, ({ path }) => ({
      path: path.slice(PREFIX.length),
      sideEffects: false,
    }));
  },
});

/** Returns one import per file; a name that was not found stays with the index. */
function narrowed(names, index, places) {
  const byFile = new Map();
  for (const item of names.split(",").map((each) => each.trim())) {
    if (item === "" || item.startsWith("type ")) continue;
    const place = places.get(item.split(" as ")[0].trim());
    const from = place === undefined ? index : `${PREFIX}${place}`;
    byFile.set(from, [...(byFile.get(from) ?? []), item]);
  }
  return [...byFile].map(([from, items]) => `import { ${items.join(", ")} } from "${from}";`).join(" ");
}

const DEFINES = /^export (?:async )?(?:function\*?|const|let|class) ([A-Za-z_$][\w$]*)/gm;
const REEXPORTS = /^export \{([^}]*)\} from "(\.[^"]+)";/gms;
const REEXPORTS_ALL = /^export \* from "(\.[^"]+)";/gm;

/** Returns every value that a file exports, with the file that defines it. */
function definedBy(path) {
  const text = readFileSync(path, "utf8");
  const fileOf = (from) => resolve(dirname(path), from);
  const found = new Map([...text.matchAll(DEFINES)].map(([, name]) => [name, path]));
  for (const [, from] of text.matchAll(REEXPORTS_ALL)) {
    for (const [name, place] of definedBy(fileOf(from))) found.set(name, place);
  }
  for (const [, names, from] of text.matchAll(REEXPORTS)) {
    const inner = definedBy(fileOf(from));
    for (const name of names.split(",").map((each) => each.trim())) {
      // A renamed export stays with the index.
      if (inner.has(name)) found.set(name, inner.get(name));
    }
  }
  return found;
}
