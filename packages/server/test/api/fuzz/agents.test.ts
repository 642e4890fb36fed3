// Fuzz test of the agents' service of a whole server: unauthenticated callers are always refused, an agent with invalid
// messages changes only its own node, no answer is an internal error, and the server keeps running.
// LATTICE_TEST_SEED=<number> tries other cases.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { pb, serviceDefinition } from "@lattice/wire";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { loadConfig } from "../../../src/base/config/index.ts";
import type { RunningServer } from "../../../src/main/options.ts";
import { startServer } from "../../../src/main/server.ts";
import { bearerBy, SHARED_SECRET, tokenBy } from "../bearer.ts";
import { metadataOf } from "../clients.ts";
import { dice, messageFor, type Roll } from "./values.ts";

const seed = Number(process.env.LATTICE_TEST_SEED ?? 1);
const EACH = 60;
/** Per stream. */
const MOST_MESSAGES = 6;
const WITHIN_MS = 120_000;
const dir = mkdtempSync(join(tmpdir(), "lattice-agents-fuzz-"));
const definition = serviceDefinition(pb.AgentService);
const admin = bearerBy({ sub: "root", scope: "admin" });
let server: RunningServer;
let client: Client;

beforeAll(async () => {
  vi.stubEnv("LATTICE_OIDC_HMAC_SECRET", SHARED_SECRET);
  const listen = { rest_listen: "127.0.0.1:0", grpc_listen: "127.0.0.1:0" };
  const config = loadConfig(null, {
    server: { id: "s1", data_dir: dir },
    api: { ...listen, auto_create_tenants: true },
  });
  server = await startServer({
    config,
    logger: pino({ level: "silent" }, { write: () => undefined }),
    version: "test",
  });
  client = new Client(server.grpc, credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  await server.close();
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

const strangers: readonly [string, Readonly<Record<string, string>>][] = [
  ["nobody", {}],
  ["an administrator", admin],
  ["a user who says it is a node", { ...bearerBy({ sub: "n1" }), "x-lattice-user": "n1" }],
  ["a lapsed agent", bearerBy({ sub: "n1", scope: "agent", exp: 1 })],
  ["an agent by another key", { authorization: `Bearer ${tokenBy({ sub: "n1", scope: "agent" }, "x".repeat(40))}` }],
];

/** The status of the call; a call that stays open is closed after its first answers. */
function ask(method: DescMethod, messages: readonly Message[], headers: Readonly<Record<string, string>>) {
  const known = definition[method.name];
  if (known === undefined) throw new Error(`no RPC ${method.name}`);
  const { path, requestSerialize, responseDeserialize } = known;
  const metadata = metadataOf(headers);
  return new Promise<number>((resolve) => {
    const [first] = messages;
    if (method.methodKind === "unary" && first !== undefined) {
      const told = (error: ServiceError | null) => resolve(error?.code ?? status.OK);
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, first, metadata, told);
      return;
    }
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    call.on("error", () => undefined);
    call.on("data", () => undefined);
    call.on("status", ({ code }) => resolve(code));
    for (const message of messages) call.write(message);
    call.end();
  });
}

function messagesFor(roll: Roll, method: DescMethod): Message[] {
  const count = method.methodKind === "unary" ? 1 : 1 + roll(MOST_MESSAGES);
  return Array.from({ length: count }, () => messageFor(roll, method.input));
}

/** A stream before its first valid message. */
const validStart = (method: DescMethod): Message[] =>
  method.name === "Connect" ? [create(pb.AgentMessageSchema, { message: { case: "hello", value: HELLO } })] : [];
const HELLO = create(pb.HelloSchema, { nodeId: "n1", protocolVersion: 1, capabilities: { cpuCores: 1, memoryGb: 1 } });

async function stateOf(): Promise<Record<string, unknown>> {
  const read = async (path: string) =>
    (await fetch(`http://${server.rest}/api/v1/${path}`, { headers: admin })).json() as Promise<
      Record<string, unknown>
    >;
  const { state_hash, applied_index } = await read("raft/status");
  return { state_hash, applied_index, ...(await read("nodes")) };
}

test("callers that are not agents are always refused", { timeout: WITHIN_MS }, async () => {
  const roll = dice(seed);
  const before = await stateOf();
  const wrong: string[] = [];
  let asked = 0;
  for (const method of pb.AgentService.methods)
    for (const [who, headers] of strangers)
      for (let n = 0; n < EACH / strangers.length; n += 1) {
        const code = await ask(method, messagesFor(roll, method), headers);
        asked += 1;
        if (code !== status.UNAUTHENTICATED && code !== status.PERMISSION_DENIED)
          wrong.push(`${who}, ${method.name}: ${code}`);
      }
  expect(wrong, `LATTICE_TEST_SEED=${seed}`).toEqual([]);
  expect(asked).toBe(pb.AgentService.methods.length * EACH);
  expect(await stateOf()).toEqual(before);
});

test("invalid messages of an agent are answered, and the server keeps running", { timeout: WITHIN_MS }, async () => {
  const roll = dice(seed + 1);
  const agent = bearerBy({ sub: "n1", scope: "agent" });
  const wrong: string[] = [];
  const codes = new Map<string, number>();
  for (const method of pb.AgentService.methods)
    for (let n = 0; n < EACH; n += 1) {
      const code = await ask(method, [...validStart(method), ...messagesFor(roll, method)], agent);
      codes.set(method.name, (codes.get(method.name) ?? 0) + 1);
      if (code === status.INTERNAL || code === status.UNKNOWN) wrong.push(`${method.name}: ${code}`);
    }
  expect(wrong, `LATTICE_TEST_SEED=${seed}`).toEqual([]);
  expect([...codes.values()]).toEqual(pb.AgentService.methods.map(() => EACH));
  // An agent may report its own state; it cannot report for another node or create work.
  const { nodes = [] } = (await stateOf()) as { nodes?: { id: string }[] };
  expect(nodes.map(({ id }) => id)).toEqual(["n1"]);
});
