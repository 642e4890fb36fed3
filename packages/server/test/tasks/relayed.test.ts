// A launch that another server leads: the leader is told when the caller has gone away, and not when only its token has ended.

import { create } from "@bufbuild/protobuf";
import { ProblemError, pb } from "@lattice/wire";
import { expect, test } from "vitest";
import { relayedLaunch } from "../../src/tasks/relayed.ts";

const started = create(pb.LaunchTasksResponseSchema, {
  event: { case: "started", value: create(pb.LaunchStartedSchema, { launchId: "7.1.x.1" }) },
});

test.each([
  ["the caller has gone away", undefined, false, 1],
  ["its token has ended, and it may come back with another", new ProblemError("unauthenticated"), false, 0],
  ["this server stops", undefined, true, 0],
] as const)("%s", async (_, reason, closing, told) => {
  const words: pb.TellLaunchRequest[] = [];
  const stop = new AbortController();
  const peer = {
    async *launch(_request: pb.LaunchTasksRequest, signal: AbortSignal) {
      const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      yield started;
      await aborted;
    },
    tellLaunch: async (request: pb.TellLaunchRequest) => {
      words.push(request);
    },
  };
  const request = create(pb.LaunchTasksRequestSchema, { allocationId: "7", returns: true });
  const how = { signal: stop.signal, closing: () => closing };
  for await (const _event of relayedLaunch(peer as never, request, how)) stop.abort(reason);
  expect(words.map(({ launchId, end, over }) => [launchId, end, over])).toEqual(
    told === 1 ? [["7.1.x.1", true, true]] : [],
  );
});
