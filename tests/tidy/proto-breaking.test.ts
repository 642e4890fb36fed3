// A change of the API must not break programs of the previous version: fields in the baseline keep number, name and
// type. Additions are allowed. The check itself is tested with broken copies.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { root } from "./sources.ts";

const BASELINE = join(root, "proto/baseline/lattice.binpb");
const buf = join(root, "node_modules/.bin/buf");

const copies: string[] = [];
afterAll(() => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true, maxRetries: 9 });
});

/** Returns what is broken, or "". */
function broken(folder: string): string {
  const done = spawnSync(buf, ["breaking", "proto", "--against", BASELINE], { cwd: folder, encoding: "utf8" });
  if (done.status === 0) return "";
  return `${done.stdout}${done.stderr}`;
}

function copyWith(file: string, change: (text: string) => string): string {
  const copy = mkdtempSync(join(tmpdir(), "lattice-proto-"));
  copies.push(copy);
  cpSync(join(root, "proto"), join(copy, "proto"), { recursive: true });
  cpSync(join(root, "buf.yaml"), join(copy, "buf.yaml"));
  const path = join(copy, "proto/lattice/v1", file);
  const before = readFileSync(path, "utf8");
  const after = change(before);
  expect(after, `${file} has changed: this test must change something else of it`).not.toBe(before);
  writeFileSync(path, after);
  return copy;
}

test("the API is compatible with the baseline", () => {
  expect(broken(root), "Keep what was there: add a field with a new number, and reserve the old one.").toBe("");
}, 60_000);

test.each([
  {
    name: "a field with another number",
    file: "agent.proto",
    change: (text: string) => text.replace("string node_id = 1;", "string node_id = 77;"),
    says: /field "1" with name "node_id" on message "Hello" was deleted/,
  },
  {
    name: "a field of another type",
    file: "agent.proto",
    change: (text: string) => text.replace("uint32 protocol_version = 2;", "string protocol_version = 2;"),
    says: /"Hello".*changed.*type/s,
  },
  {
    name: "a field with another name: JSON has no numbers",
    file: "peer.proto",
    change: (text: string) => text.replace("string outcome = 1;", "string result = 1;"),
    says: /outcome/,
  },
  {
    name: "a call that is gone",
    file: "peer.proto",
    change: (text: string) => text.replace(/ {2}rpc GetLiveness\(.*\n/, ""),
    says: /RPC "GetLiveness".*deleted/,
  },
])(
  "is refused: $name",
  ({ file, change, says }) => {
    expect(broken(copyWith(file, change))).toMatch(says);
  },
  60_000,
);

test("a new field and a new call are compatible", () => {
  const copy = copyWith("peer.proto", (text) =>
    text
      .replace("message StepDownRequest {\n", "message StepDownRequest {\n  string why = 901;\n")
      .replace(
        "service PeerService {\n",
        "service PeerService {\n  rpc Ponder(StepDownRequest) returns (StepDownResponse);\n",
      ),
  );
  expect(broken(copy)).toBe("");
}, 60_000);
