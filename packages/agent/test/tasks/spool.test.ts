// Shepherd reports are kept until confirmed; exits, fences and names also for the next leader.
import { expect, test } from "vitest";
import type { ShepherdReport } from "../../src/tasks/frames.ts";
import { nameRequests } from "../../src/tasks/shepherd/names.ts";
import { spool } from "../../src/tasks/shepherd/spool.ts";

const output = (text: string): ShepherdReport => ({
  kind: "output",
  rank: 0,
  stream: "stdout",
  data: Buffer.from(text),
});
const fence = (number: number): ShepherdReport => ({ kind: "fence", number, entries: [["k", `v${number}`]] });

test("exits and the last two fences are repeated even after confirmation", () => {
  const kept = spool();
  for (const number of [1, 2, 3]) kept.add(fence(number));
  kept.add(output("a"));
  kept.add({ kind: "exit", rank: 0, code: 3, signal: 0, message: "" });
  kept.add(output("b"));
  kept.confirm(5);
  expect(kept.toRepeat().map(({ number }) => number)).toEqual([2, 3, 5, 6]);
  expect(kept.empty()).toBe(false);
  kept.confirm(6);
  expect(kept.empty()).toBe(true);
  kept.add(fence(4));
  expect(kept.toRepeat().map(({ number }) => number)).toEqual([3, 5, 7]);
});

test("the entries of fences count as unconfirmed data", () => {
  const kept = spool();
  kept.add({ kind: "fence", number: 1, entries: [["k", "v".repeat(2 * 1024 * 1024)]] });
  expect(kept.full()).toBe(true);
  kept.confirm(1);
  expect(kept.full()).toBe(false);
});

test("published names and open requests are repeated to a new leader", () => {
  const kept = spool();
  const desk = nameRequests((report) => void kept.add(report), kept.answered);
  const heard: string[] = [];
  const ask = (act: "publish" | "lookup" | "unpublish") =>
    desk.ask({ act, entries: [["ocean", "port"]], waitSeconds: 0 }, ({ problem }) => heard.push(`${act}:${problem}`));
  const asked = () => kept.toRepeat().map(({ report }) => (report.kind === "names" ? report.act : report.kind));
  ask("publish");
  desk.answer(1, { problem: "", found: [] });
  ask("lookup");
  kept.confirm(2);
  expect(asked()).toEqual(["publish", "lookup"]);
  desk.answer(2, { problem: "", found: [] });
  // A leader that receives a repeated question answers again.
  desk.answer(1, { problem: "taken", found: [] });
  expect(asked()).toEqual(["publish"]);
  ask("unpublish");
  desk.answer(3, { problem: "", found: [] });
  kept.confirm(3);
  expect(asked()).toEqual([]);
  expect(heard).toEqual(["publish:", "lookup:", "unpublish:"]);
});
