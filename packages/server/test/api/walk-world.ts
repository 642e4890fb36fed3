// A server with work of every owner, for tests that call every route: for each owner a running service with a session,
// and a DAG. All of the work is sensitive, or none.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { seconds, type UserName, type VClusterId, WEIGHT_PROFILES } from "@lattice/core";
import { pb } from "@lattice/wire";
import { createAuthenticator } from "../../src/base/auth/authenticator.ts";
import { callHttp, type Running, startTestApi } from "./clients.ts";
import { OWNERS, SECRET, tokenOf } from "./walk.ts";
import { type Caller, callersOf } from "./walk-callers.ts";
import { openInterfaces } from "./walk-interfaces.ts";
import type { Place } from "./walk-rows.ts";

const UNLIMITED = {
  user_requests_per_second: 0,
  tenant_requests_per_second: 0,
  diagnostics_per_minute: 0,
  query_metrics_per_minute: 0,
  compare_per_minute: 0,
  warm_cache_per_minute: 0,
  attach_max_concurrent: 10_000,
  stream_logs_max_concurrent: 10_000,
  stream_metrics_max_concurrent: 10_000,
  watch_max_concurrent: 10_000,
  proxy_max_concurrent: 10_000,
};

export interface World extends Place {
  readonly running: Running;
  readonly callers: readonly Caller[];
  close(): Promise<void>;
}

/** `atOnce`: the number of pooled connections. */
export async function startWorld(atOnce: number, sensitive = false): Promise<World> {
  process.env.LATTICE_WIRE_SECRET = SECRET;
  const service = createServer((_request, response) => response.end());
  service.on("upgrade", (_request: IncomingMessage, socket) =>
    socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n"),
  );
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const api = { oidc_hmac_secret: "env://LATTICE_WIRE_SECRET", oidc_leeway_seconds: 0 };
  const running = await startTestApi({ api, rate_limits: UNLIMITED });
  await furnish(running, (service.address() as AddressInfo).port, sensitive);
  const interfaces = openInterfaces(running, atOnce);
  const callers = await callersOf(createAuthenticator(running.config.api.auth), "1");
  const close = async (): Promise<void> => {
    interfaces.close();
    service.closeAllConnections();
    service.close();
    await running.close();
  };
  return { running, plane: running.plane, interfaces, callers, sensitive, close };
}

async function furnish(running: Running, port: number, sensitive: boolean): Promise<void> {
  const { plane } = running;
  if (sensitive) addClinic(running);
  const place = sensitive ? { vcluster: "clinic" } : {};
  for (const [i, owner] of OWNERS.entries()) {
    const token = await tokenOf(owner, sensitive ? "ClaimingUser" : "User");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const submit = async (path: string, body: object): Promise<string> => {
      const { status, text } = await callHttp(running, { method: "POST", path, headers, body: JSON.stringify(body) });
      if (status !== 200) throw new Error(`${path}: ${text}`);
      return String((JSON.parse(text) as { readonly id?: string }).id);
    };
    // The first has the same name in every tenant, and is only looked up.
    const expose = [
      { name: "walk", port: 8_000 },
      { name: `of-${owner}`, port },
    ];
    const id = await submit("/api/v1/allocations", { entrypoint: "serve", connectivity: { expose }, ...place });
    plane.addNode(`n${i + 1}`);
    plane.start(id, [`n${i + 1}`]);
    await submit("/api/v1/sessions", { allocation_id: id });
    await submit("/api/v1/dags", { allocations: [{ name: "a", entrypoint: "true", ...place }] });
  }
  const data = new TextEncoder().encode("said");
  plane.output = async function* () {
    yield { data, offset: data.length };
  };
  plane.screen = async function* () {
    yield create(pb.AttachResponseSchema, { message: { case: "stdout", value: data } });
  };
}

const addClinic = ({ plane }: Running): unknown =>
  plane.apply({
    kind: "vcluster.create",
    origin: { user: "root" as UserName, requestId: null, bodyHash: "" },
    vcluster: "clinic" as VClusterId,
    tenant: null,
    description: "",
    scheduler: "sensitive_reservation",
    weights: WEIGHT_PROFILES.sensitive_reservation,
    cycleInterval: seconds(5),
    backfillDepth: 10,
    defaultWalltime: seconds(3_600),
    maxWalltime: null,
    isDefault: false,
  });
