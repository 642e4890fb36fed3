// Names that launches of one attempt publish for each other: visible to all of them, separate from other attempts,
// awaited for the requested time, and removed with their launch.
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { expect, test } from "vitest";
import { createNameDirectory, type NameAnswer } from "../../../src/nodes/tasks/names.ts";
import { createTestClock } from "../../base/clock.ts";

const { PUBLISH, LOOKUP, UNPUBLISH } = pb.NameAct;

function rig() {
  const clock = createTestClock();
  const book = createNameDirectory(clock);
  const ask = (launch: string, act: pb.NameAct, names: Record<string, string> | string[], waitSeconds = 0) => {
    const pairs = Array.isArray(names) ? names.map((key) => [key, ""] as const) : Object.entries(names);
    const entries = pairs.map(([key, value]) => create(pb.KeyValueSchema, { key, value }));
    const [attempt = ""] = launch.split("/");
    const answers: NameAnswer[] = [];
    const question = create(pb.TasksNamesSchema, { act, entries, waitSeconds });
    book.ask({ attempt, launch }, question, (answer) => void answers.push(answer));
    return answers;
  };
  return { clock, book, ask };
}

test("a name is visible to all launches of the attempt until it is unpublished", () => {
  const { ask } = rig();
  expect(ask("1.1/a", PUBLISH, { ocean: "port" })).toEqual([{ problem: "", found: [] }]);
  expect(ask("1.1/b", LOOKUP, ["ocean"])).toEqual([{ problem: "", found: [{ key: "ocean", value: "port" }] }]);
  expect(ask("1.1/b", PUBLISH, { ocean: "other" })).toEqual([{ problem: "taken", found: [] }]);
  expect(ask("1.2/c", LOOKUP, ["ocean"])).toEqual([{ problem: "unknown", found: [] }]);
  expect(ask("1.1/a", UNPUBLISH, ["ocean"])).toEqual([{ problem: "", found: [] }]);
  expect(ask("1.1/a", UNPUBLISH, ["ocean"])).toEqual([{ problem: "unknown", found: [] }]);
  expect(ask("1.1/b", LOOKUP, ["ocean"])).toEqual([{ problem: "unknown", found: [] }]);
});

test("names end with their launch, and a publication is accepted or refused as a whole", () => {
  const { ask, book } = rig();
  ask("1.1/a", PUBLISH, { x: "1" });
  expect(ask("1.1/b", PUBLISH, { x: "2", y: "2" })).toEqual([{ problem: "taken", found: [] }]);
  expect(ask("1.1/b", LOOKUP, ["y"])).toEqual([{ problem: "unknown", found: [] }]);
  ask("1.1/b", PUBLISH, { y: "2" });
  book.forget("1.1/a");
  expect(ask("1.1/b", LOOKUP, ["x", "y"])).toEqual([{ problem: "", found: [{ key: "y", value: "2" }] }]);
});

test("a waiting lookup is answered when all names exist, at its timeout, or when the launch ends", async () => {
  const { ask, book, clock } = rig();
  const both = ask("1.1/b", LOOKUP, ["x", "y"], 10);
  const late = ask("1.1/b", LOOKUP, ["z"], 10);
  ask("1.1/a", PUBLISH, { x: "1" });
  expect(both).toEqual([]);
  ask("1.1/a", PUBLISH, { y: "2" });
  expect(both).toMatchObject([{ problem: "", found: [{ key: "x" }, { key: "y" }] }]);
  await clock.advance(10_000);
  expect(late).toEqual([{ problem: "unknown", found: [] }]);
  const ended = ask("1.1/c", LOOKUP, ["z"], 10);
  book.forget("1.1/c");
  expect(ended).toEqual([{ problem: "unknown", found: [] }]);
  await clock.advance(60_000);
  expect([both.length, late.length, ended.length]).toEqual([1, 1, 1]);
});

test("the number of names is limited", () => {
  const { ask } = rig();
  expect(ask("1.1/a", PUBLISH, { x: "v".repeat(100_000) })).toEqual([{ problem: "full", found: [] }]);
  const many = Object.fromEntries(Array.from({ length: 1_025 }, (_, n) => [`n${n}`, ""]));
  expect(ask("1.1/a", PUBLISH, many)).toEqual([{ problem: "full", found: [] }]);
});
