// Every route and every RPC over HTTP and gRPC, including WebSockets and streams: with every role, on one's own
// objects, a colleague's and another tenant's, with tokens of another tenant, restricted tokens, tokens of a job and of
// an agent, and invalid tokens. The answer follows the table of access rules; for sensitive work, its second row.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RULES, type Rule } from "../../src/api/access/rules.ts";
import { createGate } from "../../src/api/limits/gate.ts";
import { addPages } from "../../src/api/rest/pages.ts";
import { createApp } from "../../src/api/rest/server.ts";
import { createAuthenticator } from "../../src/base/auth/authenticator.ts";
import { createLogger } from "../../src/base/observe/index.ts";
import type { MemoryPlane } from "./memory-plane.ts";
import {
  changes,
  type Endpoint,
  grpcEndpoints,
  type Row,
  restEndpoints,
  rowsOf,
  socketEndpoints,
  wrongWith,
} from "./walk-rows.ts";
import { startWorld, type World } from "./walk-world.ts";

const AT_ONCE = 24;
/** Limits the report of failures. */
const MOST_SHOWN = 20;
/** Allows for slow machines. */
const WITHIN_MS = 600_000;

let world: World;
let pages: readonly string[];
let served: readonly string[];

beforeAll(async () => {
  world = await startWorld(AT_ONCE);
  [pages, served] = await servedRoutes();
});
afterAll(() => world.close());

/** The routes of the whole application, and of its public pages. */
async function servedRoutes(): Promise<[readonly string[], readonly string[]]> {
  const { plane, config, metrics } = world.running;
  const gate = createGate({ limits: () => config.rateLimits, identified: true });
  const authenticator = createAuthenticator(config.api.auth);
  const logger = createLogger({ level: "silent" });
  const closing = new AbortController().signal;
  const context = {
    plane,
    config,
    logger,
    metrics,
    authenticator,
    gate,
    listening: new Set<number>(),
    closing,
    leader: () => null,
  };
  const app = createApp(context);
  await app.ready();
  const own = addPages({ route: () => undefined } as never, context).map(({ method, path }) => `${method} ${path}`);
  return [own, routesIn(app.printRoutes({ commonPrefix: false }))];
}

/** "GET /api/v1/allocations/:p" from Fastify's route tree, which has four columns per level. */
function routesIn(tree: string): readonly string[] {
  const above: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const [, indent = "", part = "", methods = ""] = /^(.*?)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? [];
    above.length = indent.length / 4;
    above.push(part);
    return methods === "" ? [] : methods.split(", ").map((method) => plain(`${method} ${above.join("")}`));
  });
}

const plain = (route: string): string =>
  route
    .replace(/\?.*$/, "")
    .replace("::", ":")
    .replace(/\/:[a-z_|:]+/g, "/:p")
    .replace(/\/proxy(?:\/\S*|\*)$/, "/proxy/*");

test("the rows cover every served route", () => {
  const walked = new Set(restEndpoints(world, pages).map(({ name }) => plain(name)));
  expect([...walked].sort()).toEqual([...new Set(served)].sort());
  expect(served.length).toBeGreaterThan(230);
});

const quietly = async (rows: readonly Row[], ask: (row: Row) => Promise<void>): Promise<void> => {
  const left = rows.values();
  const worker = async (): Promise<void> => {
    for (const row of left) await ask(row);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

/** Read-only rows run in parallel; every other row starts from the same state. */
async function walk(endpoints: readonly Endpoint[]): Promise<number> {
  const { plane, callers } = world;
  const before = plane.hash();
  const rows = rowsOf(endpoints, callers);
  const wrong: string[] = [];
  let answered = 0;
  const ask = async (row: Row): Promise<void> => {
    const said = wrongWith(row, await row.endpoint.ask(row.owner, row.caller.token));
    answered += 1;
    if (said !== null) wrong.push(said);
  };
  await quietly(
    rows.filter((row) => !changes(row)),
    ask,
  );
  expect(wrong.slice(0, MOST_SHOWN)).toEqual([]);
  expect(plane.hash(), "what is refused, and what is read, changes nothing").toBe(before);
  const putBack = plane.keep();
  const { index } = plane.view();
  for (const row of rows.filter(changes)) {
    await ask(row);
    if (plane.view().index !== index) putBack();
  }
  expect(wrong.slice(0, MOST_SHOWN)).toEqual([]);
  expect(plane.hash()).toBe(before);
  expect(answered).toBe(rows.length);
  return answered;
}

test("REST", { timeout: WITHIN_MS }, async () => {
  expect(await walk(restEndpoints(world, pages))).toBeGreaterThanOrEqual(7_000);
});

test("WebSockets", { timeout: WITHIN_MS }, async () => {
  expect(await walk(socketEndpoints(world))).toBeGreaterThanOrEqual(240);
});

test("gRPC", { timeout: WITHIN_MS }, async () => {
  expect(await walk(grpcEndpoints(world))).toBeGreaterThanOrEqual(2_400);
});

describe("sensitive work", () => {
  let clinic: World;
  beforeAll(async () => {
    clinic = await startWorld(AT_ONCE, true);
  });
  afterAll(() => clinic.close());

  /** Ignores the audit log, which records accesses and refusals; it is the last table. */
  const unaudited = (plane: MemoryPlane): string => plane.content().replace(/\w{64} (?=\d+ \{)/, "");
  const isApart = ({ rule }: Endpoint): boolean => rule !== null && (RULES[rule] as Rule).sensitive !== undefined;

  test("follows its own row over every interface", { timeout: WITHIN_MS }, async () => {
    const endpoints = [...restEndpoints(clinic, []), ...socketEndpoints(clinic), ...grpcEndpoints(clinic)].filter(
      isApart,
    );
    const rows = rowsOf(endpoints, clinic.callers);
    const before = unaudited(clinic.plane);
    const wrong: string[] = [];
    let answered = 0;
    await quietly(rows, async (row) => {
      const said = wrongWith(row, await row.endpoint.ask(row.owner, row.caller.token));
      answered += 1;
      if (said !== null) wrong.push(said);
    });
    expect(wrong.slice(0, MOST_SHOWN)).toEqual([]);
    expect(answered).toBe(rows.length);
    expect(answered).toBeGreaterThanOrEqual(2_500);
    expect(unaudited(clinic.plane)).toBe(before);
  });
});
