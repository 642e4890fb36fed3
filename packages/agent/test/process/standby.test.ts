// The script and the compiled warm process behave identically.

import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { warmScript } from "../../src/runtime/attempt/warm-script.ts";

const SOURCE = fileURLToPath(new URL("../../native/standby/lattice-standby.c", import.meta.url));

/** Prints its arguments and input and whether it leads a session, and exits as requested. */
const WRAPPER = `read -r kind word
[ "$(ps -o sid= -p $$ | tr -d ' ')" = $$ ] && leads=yes || leads=no
echo "name=$1 group=$2 kind=$kind leads=$leads"
case $word in kill) kill -KILL $$ ;; *) exit "$word" ;; esac
`;

let folder = "";
let wrapper = "";
let compiled = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lattice-test-"));
  [wrapper, compiled] = [join(folder, "wrapper.sh"), join(folder, "standby")];
  await writeFile(wrapper, WRAPPER);
  await promisify(execFile)("cc", ["-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-o", compiled, SOURCE]);
});
afterAll(() => rm(folder, { recursive: true, maxRetries: 9 }));

/** `before`: words that start the program. */
function output(
  program: string,
  words: readonly string[],
  lines: readonly string[],
  before: readonly string[] = [],
): Promise<string> {
  return new Promise((resolve, reject) => {
    const [first = "", ...rest] = [...before, program, ...words];
    const child = spawn(first, rest, {
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
      env: { PATH: "/bin:/usr/bin" },
    });
    let text = "";
    child.stdout.on("data", (data: Buffer) => {
      text += data.toString();
    });
    child.once("error", reject);
    child.once("close", () => resolve(text));
    child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  });
}

test("both implementations give each attempt its own session and report its exit", async () => {
  const lines = ["+ one /file/of it", "= 0", "= left by one that was gone", "+ two ", "= 7", "+ three", "- kill", ""];
  const script = await output("/bin/sh", ["-c", warmScript, wrapper], lines);
  expect(script.trimEnd().split("\n")).toEqual([
    "name=one group=/file/of it kind== leads=yes",
    "ended 0",
    "name=two group= kind== leads=yes",
    "ended 7",
    "name=three group= kind=- leads=yes",
    "ended 137",
  ]);
  expect(await output(compiled, [wrapper], lines)).toBe(script);
});

/** Only root with this capability (CAP_SYS_RESOURCE) can give protection, which containers often lack. */
const CAN_PROTECT =
  ((Number.parseInt(/^CapEff:\t\w*?(\w{8})$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0", 16) >>> 24) &
    1) ===
  1;

test.each([["300", "300"], ...(CAN_PROTECT ? [["-900", "0"]] : [])])(
  "attempts of an agent with an OOM score of %s have %s",
  async (score, kept) => {
    const shows = join(folder, "shows.sh");
    await writeFile(shows, "read -r kind word; cat /proc/self/oom_score_adj\n");
    const before = ["/usr/bin/choom", "-n", score, "--"];
    const expected = `${kept}\nended 0\n`;
    expect(await output("/bin/sh", ["-c", warmScript, shows], ["+ one", "= 0"], before)).toBe(expected);
    expect(await output(compiled, [shows], ["+ one", "= 0"], before)).toBe(expected);
  },
);

test("both implementations end with their agent, before and between attempts", async () => {
  for (const lines of [[], ["+ one", "= 3"]]) {
    const script = await output("/bin/sh", ["-c", warmScript, wrapper], lines);
    expect(await output(compiled, [wrapper], lines)).toBe(script);
  }
});
