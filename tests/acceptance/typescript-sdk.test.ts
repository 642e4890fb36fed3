// The TypeScript SDK as its users get it: packed, installed into an empty folder without a network, and compiled with
// strict settings. The examples of its page are compiled and run.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, transform } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanEnvironment, root } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const run = promisify(execFile);
const cluster = useCluster({ nodes: 1 });
const folder = mkdtempSync(join(tmpdir(), "lattice-sdk-"));
const examples = [
  ...readFileSync(join(root, "docs/users/typescript.md"), "utf8").matchAll(/^```ts run\n([\s\S]*?)^```$/gm),
].map(([, text = ""]) => text);

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

beforeAll(async () => {
  await run(process.execPath, [join(root, "tools/build-sdk.mjs")]);
  const packed = join(folder, "packed");
  mkdirSync(packed);
  await run("npm", ["pack", "--pack-destination", packed, join(root, "packages/sdk/dist/package")]);
  const [archive = ""] = readdirSync(packed);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  const quiet = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...quiet, join(packed, archive)], { cwd: folder });
});

test("the examples compile with strict settings, declarations included", async () => {
  expect(examples.length).toBeGreaterThanOrEqual(2);
  const files = examples.map((text, n) => {
    const name = `example-${n}.ts`;
    writeFileSync(join(folder, name), `declare const process: { env: Record<string, string | undefined> };\n${text}`);
    return name;
  });
  const settings = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true, types: [] };
  const compilerOptions = { ...settings, target: "es2022", module: "nodenext", lib: ["ES2023", "DOM"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const done = await run(join(root, "node_modules/.bin/tsc"), ["-p", folder]).catch(
    (error: { stdout: string }) => error,
  );
  expect(done.stdout).toBe("");
});

test.each(examples.map((text, n) => [n, text] as const))("example %s does what it says", async (n, text) => {
  const { code } = await transform(text, { loader: "ts", format: "esm" });
  const file = join(folder, `example-${n}.mjs`);
  writeFileSync(file, code);
  const { stdout } = await run(process.execPath, [file], {
    cwd: folder,
    env: cleanEnvironment(cluster.cliEnvironment()),
    timeout: 300_000,
  });
  for (const [, output = ""] of text.matchAll(/^\/\/ => (.*)$/gm)) expect(stdout).toContain(output);
});

test("bundlers select the browser build, which imports nothing from Node", async () => {
  const { metafile } = await build({
    stdin: { contents: 'export { createClient } from "@lattice/sdk";', resolveDir: folder },
    bundle: true,
    format: "esm",
    platform: "browser",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.some((path) => path.endsWith("@lattice/sdk/browser.js"))).toBe(true);
  expect(inputs.some((path) => path.endsWith("@lattice/sdk/index.js"))).toBe(false);
  const asked = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  expect(asked.filter((path) => path.startsWith("node:"))).toEqual([]);
});
