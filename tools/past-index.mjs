// Takes what the command line imports from the wire out of the very file that has it. A bundle in parts keeps all that
// any part uses of an index together: through it every command would load what only `submit` needs. The sources go on
// importing through the index, as packages do; a name that is not found stays with it.

import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export const INDEX = "packages/wire/src/index.ts";

const IMPORT = /^import \{([^}]*)\} from "@lattice\/wire";$/gm;
const NAMED = /^export \{([^}]*)\} from "(\.[^"]+)";$/gm;
const ALL = /^export \* from "(\.[^"]+)";$/gm;
const DECLARED = /^export (?:async )?(?:function\*?|const|let|class|enum) (\w+)/gm;

export const pastIndex = (root) => ({
  name: "past-index",
  setup(build) {
    const homes = homesOf(join(root, INDEX));
    build.onLoad({ filter: /packages[\\/](cli|sdk)[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(IMPORT, (_, names) => importsOf(names, homes, path)),
      loader: "ts",
    }));
  },
});

function importsOf(names, homes, importer) {
  return valuesIn(names)
    .map((name) => {
      const home = homes.get(name.split(" as ")[0]);
      const from = home === undefined ? "@lattice/wire" : relative(dirname(importer), home);
      return `import { ${name} } from ${JSON.stringify(from)};`;
    })
    .join("\n");
}

/** Every value that a file exports, with the file that it passes it on from. */
function homesOf(file) {
  const text = readFileSync(file, "utf8");
  const beside = (path) => join(dirname(file), path);
  return new Map([
    ...[...text.matchAll(ALL)].flatMap(([, path]) => [...homesOf(beside(path))]),
    ...[...text.matchAll(NAMED)].flatMap(([, names, path]) => valuesIn(names).map((name) => [name, beside(path)])),
    ...[...text.matchAll(DECLARED)].map(([, name]) => [name, file]),
  ]);
}

const valuesIn = (names) =>
  names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "));
