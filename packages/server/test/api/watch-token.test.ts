// The token watch of an open stream: the stream ends when its token is no longer valid, but not because the provider is
// unavailable.

import type { UserName } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Principal } from "../../src/base/auth/principal.ts";
import { watchToken } from "../../src/base/auth/watch-token.ts";

const REVALIDATE_MS = 300_000;
const someone: Principal = { user: "ada" as UserName, tenant: null, roles: ["User"], scopes: [] };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched(again: () => Promise<Principal>, kind = "oidc") {
  const end = vi.fn();
  const look = vi.fn(again);
  const api = { auth: { kind }, tokenRecheckInterval: REVALIDATE_MS };
  const parts = { authenticator: { authenticate: () => someone, again: look }, config: { api } };
  return { watch: watchToken(parts, () => "Bearer x", end), end, look };
}

test("a valid token is checked again at each interval", async () => {
  const { watch, end, look } = watched(async () => someone);
  await vi.advanceTimersByTimeAsync(3 * REVALIDATE_MS);
  expect(look).toHaveBeenCalledTimes(3);
  expect([end.mock.calls.length, watch.lapsed()]).toEqual([0, null]);
  watch.close();
  await vi.advanceTimersByTimeAsync(REVALIDATE_MS);
  expect(look).toHaveBeenCalledTimes(3);
});

test("an invalid token ends the stream with the reason", async () => {
  const refused = new ProblemError("unauthenticated", { detail: "The token is not valid: it has expired." });
  const { watch, end } = watched(() => Promise.reject(refused));
  await vi.advanceTimersByTimeAsync(REVALIDATE_MS);
  expect(end).toHaveBeenCalled();
  expect(watch.lapsed()).toBe(refused);
});

test("an unavailable provider does not end the stream", async () => {
  const { watch, end } = watched(() => Promise.reject(new ProblemError("identity_unavailable", { detail: "away" })));
  await vi.advanceTimersByTimeAsync(2 * REVALIDATE_MS);
  expect([end.mock.calls.length, watch.lapsed()]).toEqual([0, null]);
});

test("without authentication nothing is watched", async () => {
  const { look } = watched(async () => someone, "none");
  await vi.advanceTimersByTimeAsync(2 * REVALIDATE_MS);
  expect(look).not.toHaveBeenCalled();
});
