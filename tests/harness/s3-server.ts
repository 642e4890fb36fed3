// An in-memory object store for tests: the part of S3 that backups and logs use. It verifies signatures and digests, and
// shows uploads only when they are complete. POST /-/faults {"next": 3, "how": "error" | "cut" | "refuse" | "slow" |
// "half"} injects faults; GET /-/objects lists all objects, GET /-/objects/KEY returns one.
//
// Arguments: access key, secret key, buckets. Prints one line of JSON with its address.

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const [accessKey = "test", secretKey = "secret", ...buckets] = process.argv.slice(2);
/** Small, so that tests see more than one page. */
const PAGE = 2;
const MIN_PART = 5 * 1024 * 1024;
const CONTENT = "/-/objects/";
/** Delay of a slow response. */
const SLOW_MS = 2_000;

/** Thrown after the response was sent. */
type Answered = undefined;

interface Upload {
  readonly key: string;
  readonly parts: Map<number, Buffer>;
}

const objects = new Map<string, Buffer>();
const uploads = new Map<string, Upload>();
const known = new Set(buckets);
let faults: { next: number; how: string } = { next: 0, how: "error" };
const counts: Record<string, number> = {};

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  void answer(request, response).catch((error: unknown) => send(response, 500, String(error)));
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}` })}\n`);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://store");
  const body = await bodyOf(request);
  if (url.pathname === "/-/faults") {
    if (request.method === "POST") faults = JSON.parse(body.toString()) as typeof faults;
    return send(response, 200, JSON.stringify({ counts, uploads: uploads.size }));
  }
  if (url.pathname === "/-/objects") return send(response, 200, JSON.stringify([...objects.keys()].sort()));
  if (url.pathname.startsWith(CONTENT)) return show(response, decodeURIComponent(url.pathname.slice(CONTENT.length)));
  const what = `${request.method} ${[...url.searchParams.keys()].filter((key) => key === "uploads" || key === "uploadId").join()}`;
  counts[what.trim()] = (counts[what.trim()] ?? 0) + 1;
  if (faults.next > 0) {
    faults.next -= 1;
    if (faults.how === "refuse") return refuse(response, 403, "AccessDenied");
    if (faults.how === "error") return refuse(response, 503, "SlowDown");
    if (faults.how === "half") {
      response.writeHead(200, { "content-length": 1_000 }).write("half of an answer");
      setTimeout(() => request.socket.destroy(), 10);
      return;
    }
    if (faults.how !== "slow") {
      request.socket.destroy();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  }
  const problem = checkSignature(request, url) ?? checkDigest(request, body);
  if (problem !== null) return refuse(response, 403, "SignatureDoesNotMatch", problem);
  const [, bucket = "", ...rest] = url.pathname.split("/");
  if (!known.has(bucket)) return refuse(response, 404, "NoSuchBucket");
  const key = rest.map(decodeURIComponent).join("/");
  serve(request, response, { url, body, id: `${bucket}/${key}`, bucket });
}

interface Asked {
  readonly url: URL;
  readonly body: Buffer;
  readonly id: string;
  readonly bucket: string;
}

function show(response: ServerResponse, id: string): Answered {
  const object = objects.get(id);
  response.writeHead(object === undefined ? 404 : 200).end(object);
}

function serve(request: IncomingMessage, response: ServerResponse, asked: Asked): Answered {
  const { url, body, id } = asked;
  const upload = url.searchParams.get("uploadId");
  switch (request.method) {
    case "PUT":
      if (upload !== null) return putPart(response, upload, Number(url.searchParams.get("partNumber")), body);
      objects.set(id, body);
      return send(response, 200, "", { etag: etag(body) });
    case "POST":
      if (url.searchParams.has("uploads")) return beginUpload(response, asked);
      return upload === null ? refuse(response, 400, "InvalidRequest") : complete(response, upload, body);
    case "DELETE":
      if (upload === null) objects.delete(id);
      else uploads.delete(upload);
      return send(response, 204, "");
    case "GET":
    case "HEAD":
      return url.searchParams.has("list-type") ? list(response, asked) : get(request, response, id);
    default:
      return refuse(response, 405, "MethodNotAllowed");
  }
}

function beginUpload(response: ServerResponse, { id, bucket }: Asked): Answered {
  const uploadId = randomBytes(8).toString("hex");
  uploads.set(uploadId, { key: id, parts: new Map() });
  const key = id.slice(bucket.length + 1);
  send(
    response,
    200,
    `<InitiateMultipartUploadResult><Bucket>${bucket}</Bucket><Key>${key}</Key><UploadId>${uploadId}</UploadId></InitiateMultipartUploadResult>`,
  );
}

function putPart(response: ServerResponse, id: string, n: number, body: Buffer): Answered {
  const upload = uploads.get(id);
  if (upload === undefined) return refuse(response, 404, "NoSuchUpload");
  upload.parts.set(n, body);
  send(response, 200, "", { etag: etag(body) });
}

function complete(response: ServerResponse, id: string, body: Buffer): Answered {
  const upload = uploads.get(id);
  if (upload === undefined) return refuse(response, 404, "NoSuchUpload");
  const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map((match) => Number(match[1]));
  const parts = named.map((n) => upload.parts.get(n));
  if (parts.some((part) => part === undefined)) return refuse(response, 400, "InvalidPart");
  const whole = parts as Buffer[];
  if (whole.slice(0, -1).some((part) => part.length < MIN_PART)) return refuse(response, 400, "EntityTooSmall");
  const data = Buffer.concat(whole);
  objects.set(upload.key, data);
  uploads.delete(id);
  const tag = etag(data);
  send(
    response,
    200,
    `<CompleteMultipartUploadResult><Location>x</Location><Bucket>x</Bucket><Key>x</Key><ETag>${tag}</ETag></CompleteMultipartUploadResult>`,
  );
}

function get(request: IncomingMessage, response: ServerResponse, id: string): Answered {
  const object = objects.get(id);
  if (object === undefined) return refuse(response, 404, "NoSuchKey");
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
  const part = from === undefined ? object : object.subarray(Number(from), to === "" ? undefined : Number(to) + 1);
  response.writeHead(from === undefined ? 200 : 206, { etag: etag(object), "content-length": part.length });
  response.end(request.method === "HEAD" ? undefined : part);
}

function list(response: ServerResponse, { url, bucket }: Asked): Answered {
  const prefix = `${bucket}/${url.searchParams.get("prefix") ?? ""}`;
  const after = url.searchParams.get("continuation-token") ?? "";
  const ids = [...objects.keys()].filter((id) => id.startsWith(prefix) && id > after).sort();
  const page = ids.slice(0, Math.min(PAGE, Number(url.searchParams.get("max-keys") ?? PAGE)));
  const last = page.at(-1);
  const more = page.length < ids.length && last !== undefined;
  const entries = page.map((id) => {
    const object = objects.get(id) ?? Buffer.alloc(0);
    return `<Contents><Key>${id.slice(bucket.length + 1)}</Key><Size>${object.length}</Size><ETag>${etag(object)}</ETag></Contents>`;
  });
  const token = more ? `<NextContinuationToken>${last}</NextContinuationToken>` : "";
  send(
    response,
    200,
    `<ListBucketResult><KeyCount>${page.length}</KeyCount><IsTruncated>${more}</IsTruncated>${token}${entries.join("")}</ListBucketResult>`,
  );
}

/** Checks a Signature Version 4 header. Returns null when it is valid. */
function checkSignature(request: IncomingMessage, url: URL): string | null {
  const stated =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? "",
    );
  if (stated === null) return "no signature";
  const [, key = "", day = "", region = "", names = "", signature = ""] = stated;
  if (key !== accessKey) return "unknown key";
  const encode = (text: string): string =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");
  const headers = names.split(";").map((name) => `${name}:${String(request.headers[name] ?? "").trim()}\n`);
  const payload = String(request.headers["x-amz-content-sha256"] ?? "");
  const canonical = [request.method, url.pathname, query, headers.join(""), names, payload].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const hash = createHash("sha256").update(canonical).digest("hex");
  const text = ["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope, hash].join("\n");
  const hmac = (secret: string | Buffer, data: string): Buffer => createHmac("sha256", secret).update(data).digest();
  const signing = hmac(hmac(hmac(hmac(`AWS4${secretKey}`, day), region), "s3"), "aws4_request");
  return timingSafeEqual(hmac(signing, text), Buffer.from(signature, "hex")) ? null : "it does not match";
}

function checkDigest(request: IncomingMessage, body: Buffer): string | null {
  const stated = String(request.headers["x-amz-content-sha256"] ?? "");
  const right = stated === "UNSIGNED-PAYLOAD" || stated === createHash("sha256").update(body).digest("hex");
  return right ? null : "the body is not the one that was signed";
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const etag = (data: Buffer): string => `"${createHash("md5").update(data).digest("hex")}"`;

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): Answered {
  response.writeHead(status, { "content-type": "application/xml", ...headers }).end(body);
}

const refuse = (response: ServerResponse, status: number, code: string, message = code): Answered =>
  send(response, status, `<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
