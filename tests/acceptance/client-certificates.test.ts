// A program with a client certificate instead of a token: over REST and gRPC it is the user in the certificate, with
// the role User until a grant, and refused once revoked. Certificates of agents are not users.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { GRPC_DETAILS_TRAILER, pb, problemFromGrpc, serviceDefinition, toJson } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { makePki, SERVER_FLAGS, type TestPki } from "../harness/pki.ts";
import { endProcessesIn } from "../harness/processes.ts";
import { startProgram } from "../harness/program.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-test-client-certificates-"));
let pki: TestPki;
let rest = "";
let grpc = "";
let admin: Record<string, string> = {};

beforeAll(async () => {
  pki = await makePki(join(dir, "pki"));
  await pki.issue("s1", ...SERVER_FLAGS);
  await pki.issue("robot", "--kind", "client", "--tenant", "physics");
  await pki.issue("drifter", "--kind", "client");
  await pki.issue("n1", "--kind", "agent");
  await pki.run("revoke", "drifter");
  const secret = join(dir, "secret");
  writeFileSync(secret, "this secret is long enough for the hash it keys\n", { mode: 0o600 });
  const api = {
    tls_cert: pki.path("s1.crt"),
    tls_key: pki.path("s1.key"),
    tls_ca: pki.path("ca.crt"),
    tls_crl: pki.path("ca.crl"),
    oidc_hmac_secret: `file://${secret}`,
    auto_create_tenants: true,
  };
  writeFileSync(join(dir, "server.json"), JSON.stringify({ api }));
  const server = startProgram("lattice-server", {
    args: [
      ...["--config", join(dir, "server.json"), "--data-dir", join(dir, "server")],
      ...["--rest-listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0"],
    ],
    logFile: join(dir, "server.log"),
  });
  const line = await server.ready();
  rest = String(line.rest);
  grpc = String(line.grpc);
  const made = await runCli([
    "admin",
    "token",
    "create",
    "--secret-file",
    secret,
    "--user",
    "root",
    "--scope",
    "admin",
  ]);
  admin = {
    LATTICE_API_URL: `https://${rest}`,
    LATTICE_CA: pki.path("ca.crt"),
    LATTICE_TOKEN: made.stdout.trim(),
    HOME: dir,
  };
});
afterAll(async () => {
  await endProcessesIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

/** `null` for no certificate. */
async function byRest(name: string | null, method: string, path: string, body?: object, headers: object = {}) {
  const shown =
    name === null ? {} : { cert: readFileSync(pki.path(`${name}.crt`)), key: readFileSync(pki.path(`${name}.key`)) };
  const asked = request(`https://${rest}${path}`, {
    method,
    ca: readFileSync(pki.path("ca.crt")),
    agent: false,
    headers: { "content-type": "application/json", ...headers },
    ...shown,
  });
  const answer = new Promise<{ status: number; body: Record<string, unknown> }>((resolve, reject) => {
    asked.on("error", reject);
    asked.on(
      "response",
      (response) =>
        void text(response).then((output) =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(output) as Record<string, unknown> }),
        ),
    );
  });
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  return answer;
}

function byGrpc(name: string | null, id: string): Promise<unknown> {
  const ca = readFileSync(pki.path("ca.crt"));
  const [key, cert] =
    name === null ? [null, null] : [readFileSync(pki.path(`${name}.key`)), readFileSync(pki.path(`${name}.crt`))];
  const client = new Client(grpc, credentials.createSsl(ca, key, cert));
  const method = serviceDefinition(pb.AllocationService).Get;
  if (method === undefined) throw new Error("no method");
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      method.path,
      (message: pb.GetAllocationRequest) => method.requestSerialize(message),
      (bytes) => method.responseDeserialize(bytes) as pb.Allocation,
      { $typeName: "lattice.v1.GetAllocationRequest", id } as pb.GetAllocationRequest,
      (error: ServiceError | null, answer?: pb.Allocation) => {
        client.close();
        if (answer !== undefined) return resolve(toJson(pb.AllocationSchema, answer));
        const detailsBin = error?.metadata.get(GRPC_DETAILS_TRAILER)[0] as Buffer | undefined;
        resolve(problemFromGrpc({ code: error?.code ?? 2, message: error?.details ?? "", detailsBin }).code);
      },
    );
  });
}

test("a client certificate names user and tenant over REST and gRPC", async () => {
  const submitted = await byRest("robot", "POST", "/api/v1/allocations", { entrypoint: "true", nodes: 1 });
  expect(submitted.status, JSON.stringify(submitted.body)).toBe(200);
  const id = String(submitted.body.id);
  const shown = { id, user: "robot", spec: { tenant: "physics" } };
  expect((await byRest("robot", "GET", `/api/v1/allocations/${id}`)).body).toMatchObject(shown);
  expect(await byGrpc("robot", id)).toMatchObject(shown);
  expect((await byRest(null, "GET", `/api/v1/allocations/${id}`)).status).toBe(401);
  expect(await byGrpc(null, id)).toBe("unauthenticated");
});

test("a client certificate has the role User until a grant, and a token takes precedence", async () => {
  expect((await byRest("robot", "GET", "/api/v1/audit")).status).toBe(403);
  const granted = await runCli(["admin", "grant", "add", "--tenant", "physics", "robot", "tenant_admin"], {
    env: admin,
  });
  expect(granted.code, granted.stderr).toBe(0);
  expect((await byRest("robot", "GET", "/api/v1/audit")).status).toBe(200);
  const both = await byRest("robot", "GET", "/api/v1/audit", undefined, { authorization: "Bearer nonsense.a.b" });
  expect(both.status).toBe(401);
});

test("certificates of agents and servers, and revoked ones, do not authenticate users", async () => {
  for (const name of ["n1", "s1", "drifter"]) {
    const refused = await byRest(name, "GET", "/api/v1/nodes");
    expect([name, refused.status, refused.body.code]).toEqual([name, 401, "unauthenticated"]);
    expect([name, await byGrpc(name, "1")]).toEqual([name, "unauthenticated"]);
  }
  expect((await byRest("robot", "GET", "/api/v1/nodes")).status).toBe(200);
  await pki.run("revoke", "robot");
  await eventually({ what: "the certificate is refused" }, async () =>
    (await byRest("robot", "GET", "/api/v1/nodes")).status === 401 ? true : null,
  );
});
