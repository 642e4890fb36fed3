// The program of a thread. A built server has a file for each thread next to it; a server that runs from its sources,
// as in tests and benches, bundles the thread once per process, because every translation takes most of a second.

import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

interface Bundler {
  buildSync(options: object): { readonly outputFiles: readonly { readonly text: string }[] };
}

interface ThreadFiles {
  /** The file next to the built server. */
  readonly built: string;
  /** The source, relative to the file that starts the thread. */
  readonly source: string;
  /** A package that is not bundled. */
  readonly external?: string;
}

/** Bundled CommonJS calls `require`, which an ES module does not have. */
const BANNER = `import { createRequire as latticeRequire } from "node:module"; const require = latticeRequire("file:///");`;

const bundles = new Map<string, URL>();

/** `here`: the URL of the file that starts the thread. */
export function threadProgram(here: string, { built, source, external }: ThreadFiles): URL {
  if (!here.endsWith(".ts")) return new URL(`./${built}`, here);
  const entry = new URL(source, here);
  const known = bundles.get(entry.href) ?? bundle(here, entry, external);
  bundles.set(entry.href, known);
  return known;
}

function bundle(here: string, entry: URL, external: string | undefined): URL {
  const require = createRequire(here);
  const { buildSync } = require("esbuild") as Bundler;
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    external: external === undefined ? [] : [external],
    banner: { js: BANNER },
  });
  let text = outputFiles[0]?.text ?? "";
  // A program without a directory resolves packages only by URL.
  if (external !== undefined)
    text = text.replaceAll(JSON.stringify(external), JSON.stringify(pathToFileURL(require.resolve(external)).href));
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}
