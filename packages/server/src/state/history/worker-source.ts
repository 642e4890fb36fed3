// Bundles the history thread when the server runs from its sources, as in tests and benches: once per process,
// because every translation takes most of a second. The built server does not use it.

import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PACKAGE } from "./database.ts";

interface Bundler {
  buildSync(options: object): { readonly outputFiles: readonly { readonly text: string }[] };
}

let program: URL | null = null;

/** `here`: a file of this folder. */
export function fromSource(here: string): URL {
  program ??= bundle(here);
  return program;
}

function bundle(here: string): URL {
  const require = createRequire(here);
  const { buildSync } = require("esbuild") as Bundler;
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL("./worker.ts", here))],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    external: [PACKAGE],
  });
  // A program without a directory resolves packages only by URL.
  const database = pathToFileURL(require.resolve(PACKAGE)).href;
  const text = (outputFiles[0]?.text ?? "").replaceAll(JSON.stringify(PACKAGE), JSON.stringify(database));
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}
