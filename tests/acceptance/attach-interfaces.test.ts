// Other ways to open a terminal, and refused ones: gRPC, a hand-written WebSocket, garbage on it, foreign origins, and
// an attempt in its own namespaces.
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { fromJson, pb, serviceDefinition } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 1 });
let id = "";
beforeAll(async () => {
  const pidFile = cluster.file("inside");
  const script = `exec unshare --mount --uts sh -c 'hostname of-the-job; echo $$ >${pidFile}; exec sleep 600'`;
  id = await cluster.submit({ entrypoint: script }, { headers: { "x-lattice-user": "root" } });
  await cluster.reaches(id, ["running"]);
});
afterAll(() => cluster.cli(["cancel", id]));

test("a terminal over gRPC relays input and output", async () => {
  const client = new Client(cluster.grpcAddress, credentials.createInsecure());
  const method = serviceDefinition(pb.SessionService).Attach;
  if (method === undefined) throw new Error("no Attach");
  const metadata = new Metadata();
  metadata.set("x-lattice-user", "root");
  const call = client.makeBidiStreamRequest(
    method.path,
    method.requestSerialize as (message: pb.AttachRequest) => Buffer,
    method.responseDeserialize as (bytes: Buffer) => unknown as (bytes: Buffer) => pb.AttachResponse,
    metadata,
  );
  const send = (message: Record<string, unknown>) =>
    call.write(fromJson(pb.AttachRequestSchema, message as Parameters<typeof fromJson>[1]));
  let text = "";
  let exit: pb.TerminalExit | null = null;
  call.on("data", ({ message }: pb.AttachResponse) => {
    if (message.case === "stdout") text += Buffer.from(message.value).toString();
    if (message.case === "exit") exit = message.value;
  });
  send({ start: { id, command: "read line; echo got $line; exit 4" } });
  send({ stdin: Buffer.from("this\n").toString("base64") });
  await eventually({ what: "the terminal has ended" }, () => exit);
  expect(text).toContain("got this");
  expect(exit).toMatchObject({ code: 4, reason: "" });
  client.close();
});

test("a terminal enters the namespaces of the attempt's first process", async () => {
  const dir = join(cluster.dir, "agent-node-1", "attempts", `${id}.1`);
  const found = await eventually(
    { what: "the process inside is there" },
    () => Number(readFileSync(cluster.file("inside"), "utf8")) || null,
  );
  writeFileSync(join(dir, "init.pid"), `${found}\n`);
  await eventually({ what: "the terminal is inside" }, async () =>
    (await cluster.cli(["attach", id, "--command=hostname"])).stdout.includes("of-the-job") ? true : null,
  );
});

const upgrade = (path: string, headers: readonly string[] = []): string =>
  [
    `GET ${path} HTTP/1.1`,
    `host: ${cluster.restAddress}`,
    "connection: Upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
    ...headers,
    "",
    "",
  ].join("\r\n");

/** Returns the output until the other side hangs up or the text appears. */
function talk(request: string, then: Uint8Array | null, until: RegExp): Promise<string> {
  const [host = "", port = ""] = cluster.restAddress.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port) });
    let text = "";
    let sent = false;
    socket.setTimeout(120_000, () => reject(new Error(`no end: ${text}`)));
    socket.on("data", (data) => {
      text += data.toString("latin1");
      if (!sent && text.includes("\r\n\r\n") && then !== null) {
        sent = true;
        socket.write(then);
      }
      if (until.test(text)) socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.write(request);
  });
}

test("garbage on a WebSocket ends only that connection", async () => {
  const path = `/api/v1/allocations/${id}/attach?user=root&command=cat`;
  const noise = await talk(upgrade(path), Buffer.from("this is no frame at all, and not masked"), /never/);
  expect(noise).toContain("101 Switching Protocols");
  const mask = Buffer.from([0, 0, 0, 0]);
  const json = Buffer.from('{"resize": "large"}');
  const wrong = await talk(
    upgrade(path),
    Buffer.concat([Buffer.from([0x81, 0x80 | json.length]), mask, json]),
    /never/,
  );
  expect(wrong).toContain("problem");
  expect(wrong).toContain("resize");
  expect((await cluster.cli(["attach", id, "--command=echo fine"])).stdout).toContain("fine");
  await eventually({ what: "their terminals are gone" }, async () => {
    const metrics = await fetch(`${cluster.apiUrl}/metrics`).then((answer) => answer.text());
    return /^lattice_terminals_open 0$/m.test(metrics) ? true : null;
  });
});

test.each([
  ["a path that is none", () => upgrade("/api/v1/nothing"), "404"],
  ["an unknown session", () => upgrade("/v1/sessions/99999.1/terminal?user=root"), "404"],
  ["a size that is none", () => upgrade(`/v1/allocations/${id}/attach?user=root&rows=many`), "400"],
  [
    "a page from elsewhere",
    () => upgrade(`/v1/allocations/${id}/attach?user=root`, ["origin: http://evil.example"]),
    "403",
  ],
  ["another user", () => upgrade(`/v1/allocations/${id}/attach?user=mallory`), "403"],
])("%s is refused with its status before the upgrade", async (_what, request, status) => {
  const answer = await talk(request(), null, /\}$/);
  expect(answer.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
  expect(answer).toContain("application/problem+json");
});
