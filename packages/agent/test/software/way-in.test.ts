// What root's programs see on the way into an attempt, and what the command has at its end.

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { HELPER_PATH } from "../../src/base/executable.ts";
import { wayIn } from "../../src/host/user/way-in.ts";

const CHOSEN = {
  PATH: "/mine",
  LD_PRELOAD: "",
  NODE_OPTIONS: "--x",
  IFS: ":",
  n: "7",
  HOME: "/home/ada",
  "BASH_FUNC_f%%": "()",
};

test("root's programs get a safe environment; the command gets the whole one", () => {
  const { environment, prefix } = wayIn(CHOSEN, ["/usr/bin/env"]);
  expect(environment).toEqual({ PATH: HELPER_PATH, n: "7", HOME: "/home/ada" });
  const [program = "", ...words] = [...prefix, "/usr/bin/env", "-0"];
  const seen = execFileSync(program, words, { env: environment, encoding: "utf8" }).split("\0");
  expect(seen).toEqual(
    expect.arrayContaining(["PATH=/mine", "LD_PRELOAD=", "NODE_OPTIONS=--x", "IFS=:", "n=7", "HOME=/home/ada"]),
  );
  expect(seen.join()).not.toContain("BASH_FUNC");
});

test("command words are passed unchanged", () => {
  const { environment, prefix } = wayIn(CHOSEN, ["/usr/bin/env"]);
  const words = ["--", "", "A=B", "$HOME", "a 'b' \"c\"\n*"];
  const [program = "", ...args] = [...prefix, "/usr/bin/printf", "<%s>", ...words];
  expect(execFileSync(program, args, { env: environment, encoding: "utf8" })).toBe(
    words.map((word) => `<${word}>`).join(""),
  );
});

test("without namespaces to enter nothing changes", () => {
  expect(wayIn(CHOSEN, [])).toEqual({ environment: CHOSEN, prefix: [] });
});
