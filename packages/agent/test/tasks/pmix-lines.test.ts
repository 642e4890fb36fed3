// Output that the PMIx helper may write: lines of bounded length about ranks of this node. It runs as the job's user, who may
// replace it by any program.
import { expect, test } from "vitest";
import { lineCutter, parsePmixLine } from "../../src/tasks/shepherd/pmix-lines.ts";

const own = { firstRank: 4, tasks: 2 };

test.each([
  ["ready", { kind: "ready" }],
  ["env 5\tPMIX_RANK=5\tA=b=c", { kind: "env", rank: 5, variables: { PMIX_RANK: "5", A: "b=c" } }],
  ["connected 4", { kind: "connected", rank: 4 }],
  ["fence 1 00ff", { kind: "fence", number: 1, brought: "00ff" }],
  ["fence 2 ", { kind: "fence", number: 2, brought: "" }],
  ["abort 5 -3 out of\tluck", { kind: "abort", rank: 5, code: -3, message: "out of luck" }],
  ["abort 5 99999999999 x", { kind: "abort", rank: 5, code: 1, message: "x" }],
  [
    "publish 7 0 aa 6e.0.bb cc 6e.12.dd",
    {
      kind: "names",
      act: "publish",
      id: "7",
      waitSeconds: 0,
      entries: [
        ["pmix:aa", "6e.0.bb"],
        ["pmix:cc", "6e.12.dd"],
      ],
    },
  ],
  ["lookup 8 30 aa", { kind: "names", act: "lookup", id: "8", waitSeconds: 30, entries: [["pmix:aa", ""]] }],
  ["failed cannot \u001b[2J", { kind: "failed", message: "cannot  [2J" }],
])("%s is understood", (line, said) => {
  expect(parsePmixLine(line, own)).toEqual(said);
});

test.each([
  "",
  "folder /srv/victim",
  "connected 6",
  "connected 3",
  "finalized 1e1",
  "spawn",
  "fence -1 00",
  "fence 1 zz",
  "fence 1 00 00",
  "env 5\tA\0=b",
  "env 5\t=b",
  "env 9\tA=b",
  "publish 7 x aa",
  "publish 7 0 aa bb",
  "publish 7 0 aa 6e.0.zz",
  "lookup 7 0 GG",
  `env 4\tA=${"x".repeat(70_000)}`,
])("%j is refused", (line) => {
  expect(parsePmixLine(line, own)).toBeNull();
});

test("lines are cut however the bytes arrive, and an endless line ends the reading", () => {
  const cut = lineCutter();
  expect(cut(Buffer.from("rea"))).toEqual([]);
  expect(cut(Buffer.from("dy\nconnected 4\nf"))).toEqual(["ready", "connected 4"]);
  expect(cut(Buffer.from("\n"))).toEqual(["f"]);
  const endless = lineCutter();
  const block = Buffer.alloc(1024 * 1024, "x");
  const answers = Array.from({ length: 8 }, () => endless(block));
  expect(answers.at(-1)).toBeNull();
  expect(endless(Buffer.from("\n"))).toBeNull();
  expect(lineCutter()(Buffer.alloc(8 * 1024 * 1024, "x\n"))?.length).toBe(4 * 1024 * 1024);
});
