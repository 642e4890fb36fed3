// Commands from reports: a failed prologue may be the fault of the submission, and the age of an end becomes its time.

import { create } from "@bufbuild/protobuf";
import { instant, type NodeId } from "@lattice/core";
import { pb } from "@lattice/wire";
import { expect, test } from "vitest";
import { reportCommand } from "../../../src/nodes/agents/report-command.ts";

const FAILED = { allocationId: "7", attempt: 1, state: pb.AllocationState.FAILED };
const received = { node: "n1" as NodeId, now: instant(90_000) };
const told = (reason: string, stage: string) =>
  reportCommand(create(pb.ReportSchema, { ...FAILED, reason, stage, message: "(image): words" }), received);

test.each([
  ["workdir", true],
  ["output", true],
  ["image", true],
  ["mounts", true],
  ["user", undefined],
  ["cache", undefined],
  ["network", undefined],
])("a prologue that failed at %s", (stage, mayBeWork) => {
  expect(told("prologue_failed", stage)?.mayBeWork).toBe(mayBeWork);
  expect(told("launch_failed", stage)?.mayBeWork).toBeUndefined();
});

test.each([
  ["an end of half a minute ago", 30_000, 60_000],
  ["an end in the future of a wrong clock", -5_000, 90_000],
  ["an end before 1970", 1e12, 0],
  ["an age that is no number", Number.NaN, 90_000],
])("the time of %s is that of the server's clock", (_, ageMs, endedAt) => {
  expect(reportCommand(create(pb.ReportSchema, { ...FAILED, ageMs }), received)).toMatchObject({ endedAt });
});

test("a report of running work has no end", () => {
  const running = create(pb.ReportSchema, { ...FAILED, state: pb.AllocationState.RUNNING, ageMs: 5 });
  expect(reportCommand(running, received)).not.toHaveProperty("endedAt");
});

test("an end has its start when the agent reports both, and a start alone has none", () => {
  const times = { ageMs: 100, startedAgeMs: 400 };
  expect(reportCommand(create(pb.ReportSchema, { ...FAILED, ...times }), received)).toMatchObject({
    startedAt: 89_600,
    endedAt: 89_900,
  });
  const running = create(pb.ReportSchema, { ...FAILED, ...times, state: pb.AllocationState.RUNNING });
  expect(reportCommand(running, received)).not.toHaveProperty("startedAt");
});

test("a recalled attempt was stopped, and has not started", () => {
  expect(told("recalled", "")).toMatchObject({ state: "failed", reason: "stopped", recalled: true });
  expect(told("stopped", "")).not.toHaveProperty("recalled");
});
