// Forwarded calls between two servers, over a real connection: the handler is a stand-in.

import { create, type Message } from "@bufbuild/protobuf";
import { credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import { parseTenantId, parseUserName } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import { afterEach, expect, test } from "vitest";
import type { ForwardedAnswer, ForwardedCall } from "../../src/api/call/forward.ts";
import { CallerGone, isCallerGone } from "../../src/base/caller-gone.ts";
import { connectPeer } from "../../src/peers/client.ts";
import { forwardTo, type RunForwarded } from "../../src/peers/forward.ts";
import { type PeerServiceParts, peerService } from "../../src/peers/service.ts";

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function leaderWith(run: RunForwarded, { leads = true, token = "t" } = {}) {
  const leader = { sequencer: () => (leads ? {} : null) };
  const replica = { head: () => ({ index: 41 }) };
  const parts = { run, leader, replica, token: "t" } as unknown as PeerServiceParts;
  const { definition, implementation } = peerService(parts);
  const server = new Server();
  server.addService(definition, implementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  closers.push(() => server.forceShutdown());
  const name = { id: "s1", address: `127.0.0.1:${port}`, token, entryVersion: 2 };
  const client = connectPeer(name, credentials.createInsecure());
  closers.push(() => client.close());
  return { client, forward: forwardTo(client) };
}

const ada = parseUserName("ada");
const physics = parseTenantId("physics");
if (ada === null || physics === null) throw new Error("the names of this test are no names");

const callTo = (rpc: ForwardedCall["rpc"]): ForwardedCall => ({
  rpc,
  principal: { user: ada, tenant: physics, roles: ["User", "Operator"], scopes: ["a", "b"] },
  statedTenant: "chemistry",
  minIndex: "7",
  consistent: true,
  warnings: ["a warning"],
});

const explain = create(pb.ExplainRequestSchema, { id: "12" });
const explanation = create(pb.ExplanationSchema, { id: "12" });
const never = new AbortController().signal;

async function collect(answers: AsyncIterable<ForwardedAnswer>): Promise<ForwardedAnswer[]> {
  const all: ForwardedAnswer[] = [];
  for await (const answer of answers) all.push(answer);
  return all;
}

test("the leader receives the call as the follower knows it, and its answer comes back with its index", async () => {
  const seen: unknown[] = [];
  const { forward } = await leaderWith(async function* (call, request) {
    seen.push(call, request);
    yield explanation;
  });
  const call = callTo("AllocationService.Explain");
  expect(await collect(forward(call, explain, never))).toEqual([{ message: explanation, logIndex: "41" }]);
  expect(seen).toEqual([call, explain]);
});

test.each(["forbidden", "unauthenticated", "invalid_argument", "not_running"] as const)(
  "a handler's problem %s comes back as it is",
  async (code) => {
    const problem = new ProblemError(code, { detail: "for a reason", hint: "try this" });
    const { forward } = await leaderWith(async function* () {
      yield* [];
      throw problem;
    });
    const answers = collect(forward(callTo("AllocationService.Explain"), explain, never));
    await expect(answers).rejects.toMatchObject({ problem: problem.problem });
  },
);

test.each([
  ["a server that does not lead", { leads: false }],
  ["a leader that was started again, under another token", { token: "of an earlier process" }],
])("%s answers not_leader", async (_, options) => {
  const { forward } = await leaderWith(async function* () {
    yield explanation;
  }, options);
  const answers = collect(forward(callTo("AllocationService.Explain"), explain, never));
  await expect(answers).rejects.toMatchObject({ problem: { code: "not_leader" } });
});

test("a leader that is lost during a stream answers not_leader", async () => {
  const { forward, client } = await leaderWith(async function* (_call, _request, signal) {
    yield create(pb.LaunchTasksResponseSchema);
    await aborted(signal);
  });
  const answers = forward(callTo("TaskService.LaunchTasks"), create(pb.LaunchTasksRequestSchema), never);
  const broken = (async () => {
    for await (const _ of answers) client.close();
  })();
  await expect(broken).rejects.toMatchObject({ problem: { code: "not_leader" } });
});

test.each([
  ["the caller disconnects", new CallerGone(), true],
  ["its token expires", new ProblemError("unauthenticated"), false],
  ["the follower stops", undefined, false],
] as const)("when %s, the leader can tell", async (_, reason, gone) => {
  let ended: (isGone: boolean) => void = () => undefined;
  const end = new Promise<boolean>((resolve) => {
    ended = resolve;
  });
  const { forward } = await leaderWith(async function* (_call, _request, signal) {
    yield create(pb.LaunchTasksResponseSchema);
    await aborted(signal);
    ended(isCallerGone(signal));
  });
  const stop = new AbortController();
  const request = create(pb.LaunchTasksRequestSchema);
  for await (const _ of forward(callTo("TaskService.LaunchTasks"), request, stop.signal)) stop.abort(reason);
  expect(await end).toBe(gone);
});

test("messages pass in both directions, in order", async () => {
  const { forward } = await leaderWith(async function* (_call, requests) {
    for await (const message of requests as AsyncIterable<pb.AttachRequest>)
      yield create(pb.AttachResponseSchema, { message: { case: "stdout", value: dataOf(message) } });
  });
  async function* typed(): AsyncGenerator<Message> {
    for (const text of ["a", "b", "c"]) yield stdin(text);
  }
  const answers = await collect(forward(callTo("SessionService.Attach"), typed(), never));
  expect(answers.map(({ message }) => textOf(message))).toEqual(["a", "b", "c"]);
});

const stdin = (text: string): Message =>
  create(pb.AttachRequestSchema, { message: { case: "stdin", value: new TextEncoder().encode(text) } });
const dataOf = ({ message }: pb.AttachRequest): Uint8Array =>
  message.case === "stdin" ? message.value : new Uint8Array();
const textOf = (message: Message): string => {
  const { message: body } = message as pb.AttachResponse;
  return body.case === "stdout" ? new TextDecoder().decode(body.value) : "";
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
