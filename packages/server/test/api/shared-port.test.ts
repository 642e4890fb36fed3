// HTTP/1.1 on the gRPC port is answered by REST, with TLS and without.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { seconds } from "@lattice/core";
import { issue, makeAuthority, pb } from "@lattice/wire";
import { expect, test } from "vitest";
import { startApi } from "../../src/api/index.ts";
import { createAuthenticator } from "../../src/base/auth/authenticator.ts";
import { loadConfig } from "../../src/base/config/index.ts";
import { createLogger, createMetrics } from "../../src/base/observe/index.ts";
import { openTlsSource } from "../../src/base/tls/source.ts";
import { callGrpc, methodOf, startTestApi } from "./clients.ts";
import { memoryPlane } from "./memory-plane.ts";

const USER = { "x-lattice-user": "ada" };
const LIST = create(pb.ListAllocationsRequestSchema);

test("without TLS both protocols are served on one port", async () => {
  const running = await startTestApi();
  try {
    const { grpcAddress } = running.api;
    const answer = await fetch(`http://${grpcAddress}/api/v1/allocations`, { headers: USER });
    expect([answer.status, await answer.json()]).toMatchObject([200, { allocations: [] }]);
    expect(await callGrpc(running, "AllocationService.List", LIST, USER)).toHaveProperty("json");
    const posted = await fetch(`http://${grpcAddress}/api/v1/allocations`, {
      method: "POST",
      headers: { ...USER, "content-type": "application/json" },
      body: JSON.stringify({ entrypoint: "true" }),
    });
    expect(posted.status).toBe(200);
  } finally {
    await running.close();
  }
});

test("bytes that arrive one by one, and other protocols, are answered", async () => {
  const running = await startTestApi();
  try {
    const [host = "", port = ""] = running.api.grpcAddress.split(":");
    const say = (pieces: readonly string[]): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), host, () => void sayAll());
        const sayAll = async () => {
          for (const piece of pieces) await new Promise<void>((sent) => socket.write(piece, () => setTimeout(sent, 5)));
        };
        socket.setNoDelay(true);
        let text = "";
        socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
        socket.on("close", () => resolve(text));
        socket.on("error", reject);
      });
    expect(await say(["P", "R", "OPFIND /x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"])).toMatch(
      /^HTTP\/1.1 40[045] /,
    );
    expect(await say(["GET /heal", "thz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"])).toMatch(/^HTTP\/1.1 200 /);
    expect(await say(["\u0000\u0001\r\n\r\n"])).toMatch(/^HTTP\/1.1 400 /);
  } finally {
    await running.close();
  }
});

test("with TLS the handshake decides", async () => {
  const dir = mkdtempSync(join(tmpdir(), "lattice-port-"));
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const day = 86_400_000;
  const authority = await makeAuthority("alps", day);
  const hosts = ["localhost", "127.0.0.1"];
  const own = await issue(authority, { name: "s1", kind: "server", site: "alps", hosts, lifetimeMs: day });
  const logger = createLogger({ level: "silent" });
  const tls = await openTlsSource({
    config: {
      cert: file("s1.crt", own.cert),
      key: file("s1.key", own.key),
      ca: file("ca.crt", authority.cert),
      caKey: null,
      crl: null,
      agentLifetime: seconds(3_600),
      requireClientCertificates: false,
    },
    logger,
    everyMs: 1_000_000,
  });
  const config = loadConfig(null, { api: { rest_listen: "127.0.0.1:0", grpc_listen: "127.0.0.1:0" } });
  const authenticator = createAuthenticator(config.api.auth);
  const api = await startApi({ plane: memoryPlane(), config, logger, metrics: createMetrics(), authenticator, tls });
  const grpc = new Client(api.grpcAddress, credentials.createSsl(Buffer.from(authority.cert)));
  try {
    const port = Number(api.grpcAddress.split(":")[1]);
    const ask = (ALPNProtocols: readonly string[]): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const options = { host: "127.0.0.1", port, path: "/healthz", ca: authority.cert, agent: false };
        request(
          { ...options, ...(ALPNProtocols.length === 0 ? {} : { ALPNProtocols: [...ALPNProtocols] }) },
          (answer) => {
            answer.resume();
            resolve(answer.statusCode);
          },
        )
          .on("error", reject)
          .end();
      });
    expect([await ask(["http/1.1"]), await ask([])]).toEqual([200, 200]);
    const { path, requestSerialize, responseDeserialize } = methodOf("AllocationService.List");
    const answered = await new Promise((resolve, reject) =>
      grpc.makeUnaryRequest(path, requestSerialize, responseDeserialize, LIST, (error, value) =>
        error === null ? resolve(value) : reject(error),
      ),
    );
    expect(answered).toMatchObject({ allocations: [] });
  } finally {
    grpc.close();
    await api.close();
    tls.close();
    rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
  }
});
