// The contract, the handlers, the routes and the access rules name the same RPCs.

import { routes } from "@lattice/wire";
import { expect, test } from "vitest";
import { RULES } from "../../src/api/access/rules.ts";
import { SERVICES } from "../../src/api/call/rpc.ts";
import { handlers } from "../../src/api/handlers/table.ts";

const rpcs = SERVICES.flatMap((service) => service.methods.map((method) => `${service.name}.${method.name}`)).sort();

test("every RPC of the contract has a handler, and nothing else has", () => {
  expect(Object.keys(handlers).sort()).toEqual(rpcs);
});

test("every RPC has a REST route, and nothing else has; a bidirectional one is a WebSocket", () => {
  const oneWay = rpcs.filter((rpc) => rpc !== "SessionService.Attach");
  expect([...new Set(routes().map((route) => `${route.service}.${route.method}`))].sort()).toEqual(oneWay);
});

test("every RPC and the proxy have an access rule", () => {
  expect(Object.keys(RULES).sort()).toEqual([...rpcs, "Services.Proxy"].sort());
});
