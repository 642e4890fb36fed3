// Writes the parts of the SDKs that follow from the contract: types and unary calls in TypeScript, models and unary calls
// in Python. `npm run generate` runs it; tests/tidy/sdk.test.ts compares its output with the committed files.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readContract } from "./sdk/contract.mjs";
import { pythonFiles } from "./sdk/python.mjs";
import { typescriptFiles } from "./sdk/typescript.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Compiles the proto files of a checkout, with their comments. */
export function compiledProto(folder = root) {
  const buf = join(root, "node_modules/.bin/buf");
  const done = spawnSync(buf, ["build", "proto", "-o", "-#format=binpb"], { cwd: folder, maxBuffer: 1 << 26 });
  if (done.status !== 0) throw new Error(`buf build failed: ${done.stderr}`);
  return done.stdout;
}

/** Returns the generated files by path. */
export function sdkFiles(descriptors) {
  const contract = readContract(descriptors);
  return { ...typescriptFiles(contract), ...pythonFiles(contract) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(sdkFiles(compiledProto()))) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
