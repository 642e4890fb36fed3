// The package stays light: it runs in browsers, and a program that takes a small part of it does not
// carry the rest.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "../src");

async function bundled(code: string): Promise<string[]> {
  const result = await build({
    stdin: { contents: code, resolveDir: here, loader: "ts" },
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    splitting: true,
    outdir: "out",
    platform: "browser",
    logLevel: "silent",
  });
  const entry = Object.entries(result.metafile.outputs).find(([, output]) => output.entryPoint !== undefined)?.[1];
  return Object.entries(entry?.inputs ?? {}).flatMap(([name, { bytesInOutput }]) => (bytesInOutput > 0 ? [name] : []));
}

describe("wire", () => {
  test("imports nothing of Node", () => {
    for (const name of readdirSync(source, { recursive: true, encoding: "utf8" })) {
      if (name.endsWith(".ts"))
        expect(readFileSync(join(source, name), "utf8"), name).not.toMatch(/from "node:|require\(/);
    }
  });

  test("errors, scripts and durations load neither protobuf nor YAML", async () => {
    const names = "ERRORS, ProblemError, problemFromJson, renderProblem, parseScript, mergeSubmissions, parseWalltime";
    const files = await bundled(`export { ${names} } from "../src/index.ts";`);
    expect(files.filter((name) => /@bufbuild|node_modules\/yaml|wire\/gen/.test(name))).toEqual([]);
  });

  test("parseBody loads YAML only when a body is YAML", async () => {
    const files = await bundled('export { parseBody } from "../src/index.ts";');
    expect(files.filter((name) => name.includes("node_modules/yaml"))).toEqual([]);
  });
});
