// The callback page reports the outcome of the login; a request without the state of this login changes nothing.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ProblemError } from "@lattice/wire";
import { afterEach, expect, test } from "vitest";
import { callbackListener, loginError } from "../src/login/callback.ts";

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function opened(accept: (came: URL) => Promise<string>) {
  let settle: { done: (login: string) => void; failed: (error: ProblemError) => void } | null = null;
  const outcome = new Promise<string>((resolve) => {
    settle = { done: resolve, failed: (error) => resolve(error.problem.detail) };
  });
  server = createServer(
    callbackListener(
      { state: "mine", accept },
      (login) => settle?.done(login),
      (error) => settle?.failed(error),
    ),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const visit = async (path: string) => {
    const answer = await fetch(at + path);
    return `${answer.status} ${await answer.text()}`;
  };
  return { visit, outcome };
}

const accepted = async (came: URL) => `with ${came.searchParams.get("code")}`;

test("a request without the right state is rejected and the wait continues", async () => {
  const { visit, outcome } = await opened(accepted);
  for (const path of ["/callback", "/callback?code=x&state=other", "/callback?error=access_denied&state=other"])
    expect(await visit(path)).toMatch(/^400 This request does not belong/);
  expect(await visit("/favicon.ico")).toMatch(/^404/);
  expect(await visit("/callback?code=x&state=mine")).toMatch(/^200 You are logged in/);
  expect(await outcome).toBe("with x");
  expect(await visit("/callback?code=y&state=mine")).toMatch(/^400 This request does not belong/);
});

test("the provider's error is shown", async () => {
  const { visit, outcome } = await opened(accepted);
  const page = await visit("/callback?error=access_denied&error_description=not%20you%1b[2J&state=mine");
  expect(page).toContain(
    "400 You are not logged in to Lattice: the identity provider did not log you in: access_denied",
  );
  expect(await outcome).toBe("the identity provider did not log you in: access_denied: not you?[2J");
});

test("an invalid code is no login", async () => {
  const { visit, outcome } = await opened(() => Promise.reject(loginError("the code has expired")));
  expect(await visit("/callback?code=x&state=mine")).toContain("not log you in: the code has expired");
  expect(await outcome).toContain("the code has expired");
});
