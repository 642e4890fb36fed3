// Checkpoint settings of a submission in both spellings, and their output.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Allocation, duration } from "@lattice/core";
import { describe, expect, test } from "vitest";
import { allocationToProto, pb, specFromProto, specToProto, toJson } from "../../src/index.ts";
import { refusal } from "../refusal.ts";

const make = (checkpoint: MessageInitShape<typeof pb.CheckpointSchema>) =>
  specFromProto(create(pb.AllocationSpecSchema, { entrypoint: "true", checkpoint }), {
    tenant: "physics",
    vcluster: "batch",
    defaultWalltimeMs: () => null,
  });

const WHOLE = { mode: "signal", auto: true, port: 0, timeout: duration(600_000), maxDeferral: duration(300_000) };

describe("a submission", () => {
  test.each<[string, MessageInitShape<typeof pb.CheckpointSchema>, object | undefined]>([
    ["auto", { strategy: "auto" }, WHOLE],
    ["manual", { strategy: "Manual" }, { ...WHOLE, auto: false }],
    ["none", { strategy: "none" }, undefined],
    ["nothing", {}, undefined],
    ["a mode for a strategy", { strategy: "shmem" }, { ...WHOLE, mode: "shmem" }],
    ["both", { strategy: "manual", mode: "dmtcp" }, { ...WHOLE, mode: "dmtcp", auto: false }],
    [
      "all of it",
      { strategy: "grpc", port: 9999, timeoutSeconds: 60, maxDeferralSeconds: 0 },
      { mode: "grpc", auto: true, port: 9999, timeout: 60_000, maxDeferral: 0 },
    ],
  ])("%s survives a round trip", (_, init, expected) => {
    const spec = make(init);
    expect(spec.checkpoint).toEqual(expected);
    if (spec.checkpoint === undefined) return;
    expect(make(specToProto(spec).checkpoint ?? {}).checkpoint).toEqual(spec.checkpoint);
  });

  test.each<[MessageInitShape<typeof pb.CheckpointSchema>, string]>([
    [{ strategy: "smoke" }, "is not a strategy"],
    [{ strategy: "auto", mode: "smoke" }, "must be one of signal, shmem, grpc, dmtcp"],
    [{ strategy: "shmem", mode: "grpc" }, "is grpc, but the strategy is shmem"],
  ])("%o is refused", async (init, words) => {
    expect(JSON.stringify(await refusal(() => make(init)))).toContain(words);
  });
});

test("an allocation shows its newest checkpoint, the one in progress, and the last failure", () => {
  const record = {
    id: "7",
    user: "ada",
    spec: make({ strategy: "signal" }),
    submittedAt: 0,
    attempt: 2,
    requeues: 0,
    suspensions: 1,
    scores: {},
    backfilled: false,
    pendingSinceIndex: 1,
    unmet: [],
    checkpoints: {
      asked: 3,
      taken: 1,
      last: { n: 1, attempt: 1, at: 1_000, bytes: 10, took: 2_500, cause: "broker" },
      failure: { n: 2, at: 2_000, message: "the disk is full" },
    },
    phase: {
      kind: "checkpointing",
      nodes: ["n1", "n2"],
      placedAt: 0,
      startedAt: 0,
      since: 3_000,
      progress: [],
      request: { n: 3, cause: "preempted", next: "suspend", message: "for 8", answers: [5, null] },
    },
  } as unknown as Allocation;
  expect(toJson(pb.AllocationSchema, allocationToProto(record))).toMatchObject({
    state: "checkpointing",
    reason: "preempted",
    message: "for 8",
    suspensions: 1,
    checkpoint: {
      last: { number: 1, seconds: 2.5 },
      failure: { message: "the disk is full" },
      current: { number: 3, suspend_after: true, nodes: 2, nodes_done: 1 },
    },
  });
});
