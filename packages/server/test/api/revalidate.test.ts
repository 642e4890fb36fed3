// Open streams of each kind are checked again: they end when the token is revoked or has expired, and when the rights
// of its user change, but not because the provider is unavailable. Also revoked tokens in calls.

import { type IncomingMessage, request } from "node:http";
import type { Duplex } from "node:stream";
import { create, type Message } from "@bufbuild/protobuf";
import type { ServiceError } from "@grpc/grpc-js";
import type { TenantId, UserName } from "@lattice/core";
import { openConnection, pb } from "@lattice/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { callHttp, metadataOf, methodOf, problemOfService, type Running, startTestApi } from "./clients.ts";
import { AUDIENCE, json, type KeysServer, makeKey, type SigningKey, startKeysServer } from "./keys-server.ts";

let provider: KeysServer;
let key: SigningKey;
let running: Running;
/** The provider's answer to an introspection. */
let said: object | null;
/** Answers about made-up tokens, which the provider does not give yet. */
const waiting: (() => void)[] = [];
/** The tokens that were introspected. */
const looked: string[] = [];

beforeAll(async () => {
  key = await makeKey("one", "ES256");
  provider = await startKeysServer([key]);
  const { issuer } = provider;
  const endpoints = { jwks_uri: `${issuer}/keys`, introspection_endpoint: `${issuer}/introspect` };
  provider.pages.set("/.well-known/openid-configuration", json({ issuer, ...endpoints }));
  provider.pages.set("/introspect", (asked, response) => {
    asked.on("data", (bytes: Buffer) => {
      looked.push(bytes.toString());
      if (bytes.includes("flood-")) return void waiting.push(() => json({ active: false })(asked, response));
      if (said === null) response.writeHead(500).end("{}");
      else json(said)(asked, response);
    });
  });
  process.env.LATTICE_REVALIDATE_SECRET = "known to the provider";
  running = await startTestApi({
    api: {
      oidc_issuer: issuer,
      oidc_client_id: AUDIENCE,
      oidc_client_secret: "env://LATTICE_REVALIDATE_SECRET",
      oidc_token_cache_seconds: 1,
      oidc_leeway_seconds: 0,
      token_recheck_interval: "100ms",
    },
  });
  said = { active: true };
  running.plane.addNode("n1");
  const submitted = await callHttp(running, {
    method: "POST",
    path: "/api/v1/allocations",
    headers: { ...bearer(await tokenFor("ada")), "content-type": "application/json" },
    body: JSON.stringify({ entrypoint: "true" }),
  });
  expect(submitted.status, submitted.text).toBe(200);
  running.plane.start("1", ["n1"]);
  running.plane.screen = async function* (_query, _input, signal) {
    yield create(pb.AttachResponseSchema, { message: { case: "stdout", value: new Uint8Array([36]) } });
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  };
});
afterAll(async () => {
  await running.close();
  provider.close();
});
beforeEach(() => {
  said = { active: true };
});

let minted = 0;
/** Unique, so that no token is cached from another test. */
const tokenFor = (sub: string, more: object = {}): Promise<string> =>
  key.sign(provider.claims({ sub, jti: String(minted++), ...more }));
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** An open stream; `ended` resolves with its end. */
interface Open {
  readonly ended: Promise<string>;
  close(): void;
}
type Endpoint = (token: string) => Promise<Open>;

const readUntilEnd = (source: NodeJS.ReadableStream): Promise<string> =>
  new Promise((resolve) => {
    let text = "";
    source.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
    });
    for (const event of ["end", "close", "error"]) source.on(event, () => resolve(text));
  });

const bySse: Endpoint = (token) =>
  new Promise((resolve, reject) => {
    const headers = { ...bearer(token), accept: "text/event-stream" };
    const asked = request(`${running.rest}/api/v1/events`, { headers, agent: false });
    asked.on("response", (response: IncomingMessage) => {
      if (response.statusCode === 200)
        resolve({ ended: readUntilEnd(response).then(codeIn), close: () => asked.destroy() });
      else reject(new Error(String(response.statusCode)));
    });
    asked.on("error", reject);
    asked.end();
  });

const byGrpc: Endpoint = async (token) => {
  const method = methodOf("AllocationService.Watch");
  const call = running.grpc.makeServerStreamRequest<Message, Message>(
    method.path,
    (message) => method.requestSerialize(message),
    (bytes) => method.responseDeserialize(bytes),
    create(pb.WatchRequestSchema),
    metadataOf(bearer(token)),
  );
  const ended = new Promise<string>((resolve) => {
    call.on("error", (error) => resolve(problemOfService(error as ServiceError).code));
    call.on("end", () => resolve("ok"));
    call.resume();
  });
  await new Promise<void>((resolve) => call.once("metadata", () => resolve()));
  // It answers before it authenticates; later calls take the same path.
  await callHttp(running, { path: "/api/v1/allocations", headers: bearer(token) });
  return { ended, close: () => call.cancel() };
};

const upgradeWith = (token: string) => ({
  ...bearer(token),
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": Buffer.alloc(16).toString("base64"),
});

const byWebSocket: Endpoint = (token) =>
  new Promise((resolve, reject) => {
    const asked = request(`${running.rest}/api/v1/allocations/1/attach`, {
      headers: upgradeWith(token),
    });
    asked.on("upgrade", (_response, socket) =>
      resolve({ ended: readUntilEnd(socket).then(codeIn), close: () => socket.destroy() }),
    );
    asked.on("response", (response) => reject(new Error(String(response.statusCode))));
    asked.on("error", reject);
    asked.end();
  });

const codeIn = (text: string): string => /"code":"(\w+)"/.exec(text)?.[1] ?? `no problem in ${text}`;

describe.each([
  ["SSE", bySse],
  ["gRPC", byGrpc],
  ["WebSocket", byWebSocket],
] as const)("%s", (_, open) => {
  test("ends when the token is revoked", async () => {
    const { ended } = await open(await tokenFor("ada"));
    said = { active: false };
    expect(await ended).toBe("unauthenticated");
  });

  test("ends when the token has expired", async () => {
    const exp = Math.floor(Date.now() / 1_000) + 5;
    const { ended } = await open(await tokenFor("ada", { exp }));
    expect(await ended).toBe("unauthenticated");
    expect(Date.now() / 1_000).toBeGreaterThanOrEqual(exp);
  });

  test("ends when the rights of its user change, and continues while nothing changes or the provider is unavailable", async () => {
    const grant = (kind: "grant.add" | "grant.remove") =>
      running.plane.apply({
        kind,
        origin: { user: "root" as UserName, requestId: null, bodyHash: "" },
        tenant: "biology" as TenantId,
        user: "ada" as UserName,
        role: "tenant_admin",
      });
    running.plane.apply({
      kind: "tenant.create",
      origin: { user: "root" as UserName, requestId: null, bodyHash: "" },
      tenant: "biology" as TenantId,
      description: "",
      quota: running.plane.view().tenant("physics" as TenantId)?.quota ?? ({} as never),
      maxPreemptionClass: 10,
    });
    grant("grant.add");
    const stream = await open(await tokenFor("ada"));
    let over = "";
    void stream.ended.then((code) => {
      over = code;
    });
    said = null;
    await new Promise((resolve) => setTimeout(resolve, 350));
    said = { active: true };
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(over).toBe("");
    grant("grant.remove");
    expect(await stream.ended).toBe("unauthenticated");
  });

  test("is not opened with a revoked token", async () => {
    const token = await tokenFor("ada");
    said = { active: false };
    const outcome = await open(token).then(
      ({ ended }) => ended,
      (error: Error) => error.message,
    );
    expect(["401", "unauthenticated"]).toContain(outcome);
  });
});

describe("a terminal gets a new token before the first one expires", () => {
  async function opened(first: string, other: string) {
    const socket = await new Promise<Duplex>((resolve, reject) => {
      const asked = request(`${running.rest}/api/v1/allocations/1/attach`, { headers: upgradeWith(first) });
      asked.on("upgrade", (_response, made) => resolve(made));
      asked.on("response", (response) => reject(new Error(String(response.statusCode))));
      asked.on("error", reject);
      asked.end();
    });
    const connection = openConnection(socket, {
      side: "client",
      maxMessageBytes: 65_536,
      mask: () => Buffer.alloc(4),
    });
    const texts: string[] = [];
    const ended = (async () => {
      for await (const message of connection.messages) if (message.kind === "text") texts.push(message.text);
      return codeIn(texts.join());
    })();
    await connection.sendText(JSON.stringify({ token: other }));
    return ended;
  }

  test("the new token is checked from then on, and the first one is not", async () => {
    const [first, other] = [await tokenFor("ada"), await tokenFor("ada")];
    const ended = opened(first, other);
    let over = "";
    void ended.then((code) => {
      over = code;
    });
    const looks = (token: string) => looked.filter((body) => body.includes(token)).length;
    await expect.poll(() => looks(other), { timeout: 60_000 }).toBeGreaterThan(0);
    const before = looks(first);
    await expect.poll(() => looks(other), { timeout: 60_000 }).toBeGreaterThan(3);
    expect([over, looks(first)]).toEqual(["", before]);
    said = { active: false };
    expect(await ended).toBe("unauthenticated");
  });

  test("a token of another user ends it", async () => {
    expect(await opened(await tokenFor("ada"), await tokenFor("grace"))).toBe("unauthenticated");
  });
});

describe("a signed token that is revoked before it expires", () => {
  const status = async (token: string) =>
    (await callHttp(running, { path: "/api/v1/allocations", headers: bearer(token) })).status;

  test("is refused when its cache entry has expired", async () => {
    const token = await tokenFor("ada");
    expect(await status(token)).toBe(200);
    said = { active: false };
    await expect.poll(() => status(token)).toBe(401);
  });

  test("stays valid until it expires if the provider does not introspect signed tokens", async () => {
    said = { error: "unsupported_token_type" };
    expect(await status(await tokenFor("ada"))).toBe(200);
    expect(await status(await tokenFor("ada", { exp: Math.floor(Date.now() / 1_000) - 5 }))).toBe(401);
    // An unsigned token is invalid then.
    expect(await status("an-opaque-text")).toBe(401);
  });

  test("is not refused because the provider is unavailable: 503", async () => {
    said = null;
    expect(await status(await tokenFor("ada"))).toBe(503);
  });
});

describe("made-up tokens", () => {
  const status = async (token: string) =>
    (await callHttp(running, { path: "/api/v1/allocations", headers: bearer(token) })).status;
  const looksAt = (name: string) => looked.filter((body) => body.includes(name)).length;

  test("cost the provider a few questions at a time, and other users none of their calls", async () => {
    const [known, calls] = [await tokenFor("ada"), 150];
    expect(await status(known)).toBe(200);
    const flood = Array.from({ length: calls }, (_, n) => status(`flood-${n}`));
    await expect.poll(() => waiting.length, { timeout: 20_000 }).toBe(64);
    // Longer than the server remembers that it is valid.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await status(known)).toBe(200);
    expect(await status(await tokenFor("grace"))).toBe(429);
    for (const answer of waiting) answer();
    const found = await Promise.all(flood);
    expect(looksAt("flood-")).toBe(64);
    expect(found.filter((code) => code === 401)).toHaveLength(64);
    expect(found.filter((code) => code === 429)).toHaveLength(calls - 64);
  });

  test("that were refused are not asked about again for a moment", async () => {
    said = { active: false };
    expect(await status("repeated-0")).toBe(401);
    for (let times = 0; times < 10; times += 1) expect(await status("repeated-0")).toBe(401);
    expect(looksAt("repeated-0")).toBeLessThanOrEqual(2);
  });
});
