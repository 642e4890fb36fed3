// Environment and rights of the helper programs and of the final command.

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { HELPER_PATH } from "../../src/base/executable.ts";
import { wayIn } from "../../src/host/user/way-in.ts";

const CHOSEN = { PATH: "/mine", LD_PRELOAD: "", NODE_OPTIONS: "--x", IFS: ":", n: "7", "odd.name": "a\nb" };

test("root's program has no variable of the job, and gets all of them by its descriptor", () => {
  const { environment, prefix, variables } = wayIn(CHOSEN, ["/opt/lattice-enter", "--target=9", "--"], 5);
  expect(environment).toEqual({ PATH: HELPER_PATH });
  expect(prefix).toEqual(["/opt/lattice-enter", "--variables=5", "--target=9", "--"]);
  expect(variables?.toString().split("\0").slice(0, -1)).toEqual(
    Object.entries(CHOSEN).map(([name, value]) => `${name}=${value}`),
  );
});

test("tools that run as the job's user have neither its PATH nor its libraries; the command has both", () => {
  const { environment, prefix, variables } = wayIn(CHOSEN, ["/usr/bin/env"], 5);
  expect(variables).toBeNull();
  expect(environment).toEqual({ PATH: HELPER_PATH, NODE_OPTIONS: "--x", n: "7", "odd.name": "a\nb" });
  const [program = "", ...words] = [...prefix, "/usr/bin/env", "-0"];
  const seen = execFileSync(program, words, { env: environment, encoding: "utf8" }).split("\0");
  expect(seen).toEqual(expect.arrayContaining(["PATH=/mine", "LD_PRELOAD=", "NODE_OPTIONS=--x", "IFS=:", "n=7"]));
});

test("command words are passed unchanged", () => {
  const { environment, prefix } = wayIn(CHOSEN, ["/usr/bin/env"], 5);
  const words = ["--", "", "A=B", "$HOME", "a 'b' \"c\"\n*"];
  const [program = "", ...args] = [...prefix, "/usr/bin/printf", "<%s>", ...words];
  expect(execFileSync(program, args, { env: environment, encoding: "utf8" })).toBe(
    words.map((word) => `<${word}>`).join(""),
  );
});

test("without namespaces to enter nothing changes", () => {
  expect(wayIn(CHOSEN, [], 5)).toEqual({ environment: CHOSEN, prefix: [], variables: null });
});
