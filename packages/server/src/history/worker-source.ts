// The history thread where the server runs from its sources, as in tests and benches: they are bundled once for all
// threads of a process, since having each translate its own takes most of a second. The built server never comes here.

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
  // A program that lies in no folder finds packages by their address alone.
  const database = pathToFileURL(require.resolve(PACKAGE)).href;
  const text = (outputFiles[0]?.text ?? "").replaceAll(JSON.stringify(PACKAGE), JSON.stringify(database));
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}
