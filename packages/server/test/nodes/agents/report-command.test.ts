// Commands from reports: a failed prologue may be the fault of the submission.

import { create } from "@bufbuild/protobuf";
import type { NodeId } from "@lattice/core";
import { pb } from "@lattice/wire";
import { expect, test } from "vitest";
import { reportCommand } from "../../../src/nodes/agents/report-command.ts";

const FAILED = { allocationId: "7", attempt: 1, state: pb.AllocationState.FAILED };
const told = (reason: string, stage: string) =>
  reportCommand("n1" as NodeId, create(pb.ReportSchema, { ...FAILED, reason, stage, message: "(image): words" }));

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
