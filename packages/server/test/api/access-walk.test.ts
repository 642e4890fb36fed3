// Scopes that narrow a role and grants of the state, on one's own objects, a colleague's and another tenant's.
// access-wire.test.ts covers every role on every route.

import { create, type Message } from "@bufbuild/protobuf";
import type { TenantId, UserName } from "@lattice/core";
import { pb, problemOf } from "@lattice/wire";
import { beforeAll, describe, expect, test } from "vitest";
import { withGrants } from "../../src/api/access/granted.ts";
import type { RpcName } from "../../src/api/call/rpc.ts";
import { type ApiContext, invokeStream, invokeUnary, type RequestMeta } from "../../src/api/invoke/invoke.ts";
import { createGate } from "../../src/api/limits/gate.ts";
import { createAuthenticator } from "../../src/base/auth/authenticator.ts";
import type { Role } from "../../src/base/auth/principal.ts";
import { loadConfig } from "../../src/base/config/index.ts";
import { createLogger, createMetrics } from "../../src/base/observe/index.ts";
import { type MemoryPlane, memoryPlane } from "./memory-plane.ts";
import { OWNERS, RPCS, type Rpc, requestFor, SECRET, sign, tokenOf } from "./walk.ts";

let config: ReturnType<typeof loadConfig>;
let authenticator: ReturnType<typeof createAuthenticator>;
const metrics = createMetrics();
const logger = createLogger({ level: "silent" });

beforeAll(() => {
  process.env.LATTICE_WALK_SECRET = SECRET;
  config = loadConfig(null, {
    api: { oidc_hmac_secret: "env://LATTICE_WALK_SECRET", oidc_leeway_seconds: 0, auto_create_tenants: true },
    scheduling: { impossible_requests: "warn" },
    rate_limits: {
      user_requests_per_second: 0,
      tenant_requests_per_second: 0,
      diagnostics_per_minute: 0,
      query_metrics_per_minute: 0,
      compare_per_minute: 0,
      warm_cache_per_minute: 0,
    },
  });
  authenticator = createAuthenticator(config.api.auth);
});

interface World {
  readonly plane: MemoryPlane;
  /** A permitted stream may stay silent, so it is closed soon. A refusal is awaited. */
  call(rpc: Rpc, request: Message, token: string | null, patienceMs?: number): Promise<string>;
}

/** One of these runs for each owner; `walk` is the service of LookupService. */
const SERVING = { entrypoint: "true", connectivity: { expose: [{ name: "walk", port: 8000 }] } };
const REFUSAL_MS = 60_000;

/** Three running allocations, 1 to 3, and three DAGs, one of each owner. */
async function world(): Promise<World> {
  const plane = memoryPlane();
  const gate = createGate({ limits: () => config.rateLimits, identified: false });
  const context: ApiContext = {
    plane,
    config,
    logger,
    metrics,
    authenticator,
    gate,
    listening: new Set(),
    closing: new AbortController().signal,
    leader: () => null,
  };
  const run = async (
    rpc: Rpc,
    request: Message,
    token: string | null,
    patienceMs: number = REFUSAL_MS,
  ): Promise<string> => {
    const headers = (name: string) => (name === "authorization" && token !== null ? `Bearer ${token}` : undefined);
    const gone = new AbortController();
    const arrival: RequestMeta & { signal: AbortSignal } = {
      headers,
      minIndex: undefined,
      consistent: false,
      warnings: [],
      signal: gone.signal,
    };
    try {
      if (rpc.unary) return `ok ${text(await invokeUnary(context, rpc.name, request, arrival))}`;
      const stream = invokeStream(context, rpc.name, request, arrival);
      const timer = setTimeout(() => gone.abort(), patienceMs);
      const first = await stream.next();
      clearTimeout(timer);
      gone.abort();
      await stream.return(undefined);
      return `ok ${text(first.value)}`;
    } catch (error) {
      return problemOf(error).code;
    }
  };
  for (const [i, owner] of OWNERS.entries()) {
    plane.addNode(`n${i + 1}`);
    const token = await tokenOf(owner, "User");
    const submit = RPCS.find(({ name }) => name === "AllocationService.Submit") as Rpc;
    const dag = RPCS.find(({ name }) => name === "DagService.SubmitDag") as Rpc;
    await run(submit, create(pb.SubmitRequestSchema, { allocation: SERVING }), token);
    await run(dag, create(pb.SubmitDagRequestSchema, { allocations: [{ name: "a", entrypoint: "true" }] }), token);
  }
  const mine = [...plane.view().allocations()].filter(({ dag }) => dag === undefined);
  for (const [i, { id, user }] of mine.entries()) {
    plane.start(id, [`n${i + 1}`]);
    plane.apply({ kind: "session.open", origin: { user, requestId: null, bodyHash: "" }, allocation: id });
  }
  return { plane, call: run };
}

const text = (message: unknown): string =>
  JSON.stringify(message, (_, v) => (typeof v === "bigint" ? String(v) : v)) ?? "";

test("narrow scopes: reading does not allow changes, attaching does not allow reading output", async () => {
  const answers = async (scope: string, rpc: RpcName) => {
    const { plane, call } = await world();
    const token = await sign({ sub: "ada", tenant: "physics", scope });
    const found = RPCS.find(({ name }) => name === rpc) as Rpc;
    return (await call(found, requestFor(found, "ada", plane), token, 200)).split(" ")[0];
  };
  for (const [scope, rpc, answer] of [
    ["allocations:read", "AllocationService.Get", "ok"],
    ["allocations:read", "AllocationService.GetLogs", "ok"],
    ["allocations:read", "AllocationService.Cancel", "forbidden"],
    ["allocations:read", "AllocationService.Submit", "forbidden"],
    ["allocations:read", "AdminService.ListTenants", "forbidden"],
    ["allocations:attach", "AllocationService.Get", "ok"],
    ["allocations:attach", "AllocationService.GetLogs", "forbidden"],
    ["allocations:read allocations:attach", "AllocationService.StreamLogs", "ok"],
    ["allocations:wriet", "AllocationService.Get", "forbidden"],
    ["openid", "AllocationService.Cancel", "ok"],
    ["operator allocations:read", "NodeService.DisableNode", "ok"],
    ["agent", "NodeService.ListNodes", "forbidden"],
  ] as const)
    expect([scope, rpc, await answers(scope, rpc)]).toEqual([scope, rpc, answer]);
});

describe("grants", () => {
  const named = (name: RpcName): Rpc => RPCS.find((rpc) => rpc.name === name) as Rpc;

  test("make a user an administrator of one tenant, until they are revoked", async () => {
    const { plane, call } = await world();
    const root = await sign({ sub: "root", scope: "admin" });
    const ada = await tokenOf("ada", "User");
    const cancel = named("AllocationService.Cancel");
    const eves = requestFor(cancel, "eve", plane);
    expect(await call(cancel, eves, ada)).toBe("forbidden");
    const grant = create(pb.AddGrantRequestSchema, { tenant: "biology", user: "ada", role: "tenant-admin" });
    expect(await call(named("AccessService.AddGrant"), grant, ada)).toBe("forbidden");
    expect(await call(named("AccessService.AddGrant"), grant, root)).toMatch(/^ok/);
    expect(await call(cancel, eves, ada)).toMatch(/^ok/);
    // Not in her own tenant, where she has no grant.
    expect(await call(cancel, requestFor(cancel, "bob", plane), ada)).toBe("forbidden");
    const remove = create(pb.RemoveGrantRequestSchema, { tenant: "biology", user: "ada", role: "tenant_admin" });
    expect(await call(named("AccessService.RemoveGrant"), remove, root)).toMatch(/^ok/);
    expect(await call(named("AccessService.RemoveGrant"), remove, root)).toBe("unknown_grant");
    expect(await call(cancel, eves, ada)).toBe("forbidden");
    const told = await call(named("AccessService.QueryAudit"), create(pb.QueryAuditRequestSchema), root);
    expect(told).toMatch(/grant\.add.*allocation\.cancel.*grant\.remove/);
  });

  test("an administrator of a tenant grants claiming_user there, and never tenant_admin", async () => {
    const { call } = await world();
    const admin = await tokenOf("ada", "TenantAdmin");
    const add = (tenant: string, role: string) =>
      call(named("AccessService.AddGrant"), create(pb.AddGrantRequestSchema, { tenant, user: "bob", role }), admin);
    expect(await add("physics", "claiming_user")).toMatch(/^ok/);
    expect(await add("physics", "tenant_admin")).toBe("forbidden");
    expect(await add("biology", "claiming_user")).toBe("forbidden");
  });

  test("do not widen a restricted token", async () => {
    const { plane } = await world();
    const origin = { user: "root" as UserName, requestId: null, bodyHash: "" };
    const tenant = "physics" as TenantId;
    plane.apply({ kind: "grant.add", origin, tenant, user: "ada" as UserName, role: "tenant_admin" });
    const roles = (scopes: string[], base: Role[]) =>
      withGrants({ user: "ada" as UserName, tenant, roles: base, scopes }, plane.view()).grants?.length ?? 0;
    expect(roles([], ["User"])).toBe(1);
    expect(roles(["operator"], ["Operator"])).toBe(1);
    expect(roles(["readonly"], ["ReadOnly"])).toBe(0);
    expect(roles(["job:1"], ["User"])).toBe(0);
    expect(roles(["agent"], [])).toBe(0);
    expect(roles(["allocations:read"], ["User"])).toBe(0);
  });
});
