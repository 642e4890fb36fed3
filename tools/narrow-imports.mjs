// A program that is split into chunks loads what its imports reach, and the public index of a package reaches all of
// it. While bundling, an import from one of our packages is led to the file that defines the name, so that a chunk
// loads that file alone. Sources keep importing from the index: nothing of this is to be seen there.

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
    const placesOf = (name) => {
      if (!known.has(name)) known.set(name, definedBy(indexes.get(name)));
      return known.get(name);
    };
    build.onLoad({ filter: /[\\/]packages[\\/][a-z]+[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const contents = text.replaceAll(IMPORT, (whole, names, from) =>
        indexes.has(from) ? narrowed(names, `@lattice/${from}`, placesOf(from)) : whole,
      );
      return { contents, loader: "ts" };
    });
    build.onResolve({ filter: new RegExp(`^${PREFIX}`) }, ({ path }) => ({
      path: path.slice(PREFIX.length),
      sideEffects: false,
    }));
  },
});

/** One import for each file; a name that was not found stays with the index. */
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
const PASSES_ON = /^export \{([^}]*)\} from "(\.[^"]+)";/gms;
const PASSES_ALL_ON = /^export \* from "(\.[^"]+)";/gm;

/** Every value that a file offers, and the file that defines it. */
function definedBy(path) {
  const text = readFileSync(path, "utf8");
  const fileOf = (from) => resolve(dirname(path), from);
  const found = new Map([...text.matchAll(DEFINES)].map(([, name]) => [name, path]));
  for (const [, from] of text.matchAll(PASSES_ALL_ON)) {
    for (const [name, place] of definedBy(fileOf(from))) found.set(name, place);
  }
  for (const [, names, from] of text.matchAll(PASSES_ON)) {
    const inner = definedBy(fileOf(from));
    for (const name of names.split(",").map((each) => each.trim())) {
      // What has another name inside stays with the index.
      if (inner.has(name)) found.set(name, inner.get(name));
    }
  }
  return found;
}
