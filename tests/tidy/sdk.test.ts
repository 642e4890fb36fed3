// The SDKs follow the contract: the committed code is what the generator writes, every unary call is in both clients, and
// a field that is added to a message reaches the SDK types and calls without further edits.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { routes } from "@lattice/wire";
import { expect, test } from "vitest";
import { compiledProto, sdkFiles } from "../../tools/generate-sdk.mjs";
import { CALLS } from "../../tools/sdk/names.mjs";
import { root } from "./sources.ts";

const names = CALLS;

test("the generated SDK code is current", () => {
  for (const [path, text] of Object.entries(sdkFiles(compiledProto()))) {
    expect(readFileSync(join(root, path), "utf8"), `${path} differs: run npm run generate`).toBe(text);
  }
}, 60_000);

test("every unary call has a name in both SDKs", () => {
  const unary = routes().filter(({ kind, alias }) => kind === "unary" && !alias);
  const rpcs = unary.map(({ service, method }) => `${service}.${method}`);
  expect(Object.keys(names).sort(), "add the call to tools/sdk/names.mjs").toEqual(rpcs.sort());
});

test("the Python client has every call", () => {
  const folder = join(root, "sdks/python/lattice_sdk/_async");
  const text = readdirSync(folder)
    .filter((name) => name.endsWith(".py"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
  for (const [rpc, { py }] of Object.entries(names)) expect(text, rpc).toContain(`async def ${py}(`);
});

test("a new field reaches types, calls and models", () => {
  const copy = mkdtempSync(join(tmpdir(), "lattice-contract-"));
  try {
    cpSync(join(root, "proto"), join(copy, "proto"), { recursive: true });
    cpSync(join(root, "buf.yaml"), join(copy, "buf.yaml"));
    const path = join(copy, "proto/lattice/v1/nodes.proto");
    const text = readFileSync(path, "utf8");
    const added = text
      .replace("message Node {", "message Node {\n  // Rack of the machine.\n  string made_up_rack = 900;")
      .replace("message DrainNodeRequest {", "message DrainNodeRequest {\n  uint32 made_up_limit = 900;");
    expect(added).not.toBe(text);
    writeFileSync(path, added);
    const files = sdkFiles(compiledProto(copy));
    const types = files["packages/sdk/gen/types.ts"] ?? "";
    expect(types).toContain("  /** Rack of the machine. */\n  readonly made_up_rack: string;");
    expect(types).toContain("readonly made_up_limit?: number | undefined;");
    expect(files["sdks/python/lattice_sdk/models/generated.py"]).toContain('    made_up_rack: str = ""\n');
    expect(files["sdks/python/lattice_sdk/_async/generated.py"]).toContain("made_up_limit: int | None = None");
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}, 60_000);
