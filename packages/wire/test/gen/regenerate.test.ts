// The committed code is what the proto files say, and the proto files are clean.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../../..");
const bin = join(root, "node_modules/.bin");
let out = "";

beforeAll(() => {
  out = mkdtempSync(join(tmpdir(), "lattice-gen-"));
});
afterAll(() => {
  rmSync(out, { recursive: true, force: true, maxRetries: 9 });
});

function buf(...args: string[]): { status: number | null; text: string } {
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };
  const done = spawnSync(join(bin, "buf"), args, { cwd: root, env, encoding: "utf8", timeout: 300_000 });
  return { status: done.status, text: `${done.stdout}${done.stderr}` };
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

describe("proto", () => {
  test("buf lint reports nothing", () => {
    expect(buf("lint")).toEqual({ status: 0, text: "" });
  });

  test("packages/wire/gen equals the output of `npm run generate`", { timeout: 600_000 }, () => {
    const template = readFileSync(join(root, "buf.gen.yaml"), "utf8");
    expect(template).toContain("out: packages/wire/gen");
    const changed = join(out, "buf.gen.yaml");
    const fresh = join(out, "gen");
    writeFileSync(changed, template.replace("out: packages/wire/gen", `out: ${JSON.stringify(fresh)}`));
    expect(buf("generate", "--template", changed)).toEqual({ status: 0, text: "" });
    const committed = join(root, "packages/wire/gen");
    expect(filesUnder(committed)).toEqual(filesUnder(fresh));
    for (const name of filesUnder(fresh)) {
      const same = readFileSync(join(committed, name)).equals(readFileSync(join(fresh, name)));
      expect(same, `${relative(root, join(committed, name))} differs: run \`npm run generate\``).toBe(true);
    }
  });
});
