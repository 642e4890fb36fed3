// A stream opened with a token ends when the token expires or loses the agent scope, but not while the provider is
// unavailable.

import { EventEmitter } from "node:events";
import { Metadata } from "@grpc/grpc-js";
import type { UserName } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Principal } from "../../../src/base/auth/principal.ts";
import { createAgentGuard } from "../../../src/nodes/agents/guard.ts";

const EVERY_MS = 1_000;
const agent: Principal = { user: "n1" as UserName, tenant: null, roles: [], scopes: ["agent"] };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function opened(again: () => Promise<Principal>) {
  const look = vi.fn(again);
  const errors: string[] = [];
  const connect = vi.fn();
  const guard = createAgentGuard({
    authenticator: { authenticate: () => agent, again: look },
    certificates: false,
    config: { api: { auth: { kind: "oidc" }, tokenRecheckInterval: EVERY_MS } },
  });
  const { implementation } = guard.guarded({ definition: {}, implementation: { connect } as never });
  const call = Object.assign(new EventEmitter(), { metadata: new Metadata() });
  call.on("error", (error: Error) => errors.push(error.message));
  (implementation as unknown as { connect(call: object): void }).connect(call);
  await vi.advanceTimersByTimeAsync(0);
  expect(connect).toHaveBeenCalledOnce();
  return { call, errors, look };
}

test("a stream continues with a valid token, also while the provider is unavailable, and is not checked after its end", async () => {
  const away = () => Promise.reject(new ProblemError("identity_unavailable", { detail: "away" }));
  for (const again of [async () => agent, away]) {
    const { call, errors, look } = await opened(again);
    await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
    expect([look.mock.calls.length, errors]).toEqual([3, []]);
    call.emit("cancelled");
    await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
    expect(look).toHaveBeenCalledTimes(3);
  }
});

test.each<[string, () => Promise<Principal>, RegExp]>([
  ["has expired", () => Promise.reject(new ProblemError("unauthenticated", { detail: "It has expired." })), /expired/],
  ["has lost its scope", async () => ({ ...agent, scopes: [] }), /have changed/],
])("a stream whose token %s is ended, once", async (_what, again, why) => {
  const { errors, look } = await opened(again);
  await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
  expect(errors).toEqual([expect.stringMatching(why)]);
  expect(look).toHaveBeenCalledOnce();
});
