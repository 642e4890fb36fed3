// Registries that are not a folder: an index over HTTP and an OCI registry, both real; the same images and
// the same answers. And an attempt that is stopped while its image is on the way.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseIndex } from "../../src/images/index-file.ts";
import { openRegistry } from "../../src/images/open-registry.ts";
import { findByName } from "../../src/images/registry.ts";
import { found } from "../fake-server.ts";
import { rig } from "../rig.ts";
import { type ContainerRig, containerRig } from "../software/container-rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";
import { type ImageRig, imageRig } from "./image-rig.ts";

const never = new AbortController().signal;

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** As the distribution specification has it: ask for a place, then put the bytes there. */
async function upload(repository: string, bytes: Buffer): Promise<string> {
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const started = await fetch(`${repository}/blobs/uploads/`, { method: "POST" });
  const place = new URL(started.headers.get("location") ?? "", repository);
  place.searchParams.set("digest", digest);
  const headers = { "content-type": "application/octet-stream" };
  const done = await fetch(place, { method: "PUT", body: new Uint8Array(bytes), headers });
  if (done.status !== 201) throw new Error(`the registry answered ${done.status}`);
  return digest;
}

describe("an index over HTTP", () => {
  let images: ImageRig;
  let server: Server;
  let url: string;
  let hold = false;
  let asked = 0;
  beforeAll(async () => {
    images = imageRig();
    images.add("gnu/24.11:v1", { "bin/x": "x" });
    server = createServer((request, response) => {
      asked += 1;
      if (hold && request.url?.endsWith(".squashfs")) return void response.write("part");
      try {
        response.end(readFileSync(join(images.folder, request.url ?? "")));
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    images.close();
  });

  test("an HTTP index lists images and serves their bytes", async () => {
    const registry = openRegistry(url);
    const [one] = await registry.list(never);
    expect(one).toMatchObject({ name: "gnu/24.11:v1", signature: null });
    const bytes = one === undefined ? Buffer.alloc(0) : await bytesOf(await one.read(never));
    expect(bytes).toEqual(readFileSync(join(images.folder, "gnu_24.11_v1.squashfs")));
    const before = asked;
    expect(await registry.find("gnu/24.11", never)).toMatchObject({ digest: one?.digest });
    expect(asked).toBe(before);
  });

  test("stopping an attempt during a pull ends it at once", async () => {
    hold = true;
    const r = await rig({ options: { software: { ...DEFAULT_SOFTWARE, registry: url, cacheMinFreeBytes: 0 } } });
    r.server.run({ allocationId: "1", entrypoint: "echo never", environment: { uenv: "gnu/24.11:v1" } });
    const before = asked;
    await found(() => asked > before + 1);
    r.server.stop({ allocationId: "1", graceSeconds: 60 });
    expect(await r.server.end("1")).toMatchObject({ reason: "stopped" });
    expect(r.file("1", "stdout")).toBe("");
    await r.close();
    hold = false;
  });

  test("an unreachable registry is named", async () => {
    await expect(openRegistry("http://127.0.0.1:1/x").list(never)).rejects.toThrow();
    await expect(openRegistry(`${url}/nowhere`).list(never)).rejects.toThrow("answered 404");
    await expect(openRegistry("/no/such/folder").list(never)).rejects.toThrow("ENOENT");
  });
});

describe("an OCI registry", () => {
  let containers: ContainerRig;
  let images: ImageRig;
  beforeAll(async () => {
    containers = await containerRig();
    images = imageRig();
    const digest = images.add("gnu/24.11:v1", { "bin/x": "x" });
    const bytes = readFileSync(join(images.folder, "gnu_24.11_v1.squashfs"));
    const repository = `http://${containers.registry}/v2/uenv/gnu/24.11`;
    await upload(repository, bytes);
    const empty = Buffer.from("{}");
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    const manifest = {
      schemaVersion: 2,
      mediaType,
      config: { mediaType: "application/vnd.oci.empty.v1+json", digest: await upload(repository, empty), size: 2 },
      layers: [{ mediaType: "application/x-squashfs", digest, size: bytes.length }],
    };
    const body = JSON.stringify(manifest);
    const put = await fetch(`${repository}/manifests/v1`, {
      method: "PUT",
      body,
      headers: { "content-type": mediaType },
    });
    expect(put.status).toBe(201);
  });
  afterAll(async () => {
    await containers.close();
    images.close();
  });

  test("an OCI registry serves the same images by digest", async () => {
    const registry = openRegistry(`oci+http://${containers.registry}/uenv`);
    const one = await registry.find("gnu/24.11:v1", never);
    const same = await openRegistry(images.folder).find("gnu/24.11:v1", never);
    expect(one).toMatchObject({ name: "gnu/24.11:v1", digest: same?.digest });
    const bytes = one === null ? Buffer.alloc(0) : await bytesOf(await one.read(never));
    expect(bytes).toEqual(readFileSync(join(images.folder, "gnu_24.11_v1.squashfs")));
    expect((await registry.list(never)).map(({ name }) => name)).toEqual(["gnu/24.11:v1"]);
    expect(await registry.find("gnu/24.11", never)).toMatchObject({ digest: same?.digest });
    expect(await registry.find("gnu/25:v1", never)).toBeNull();
  });
});

describe("an OCI registry with authentication", () => {
  let server: Server;
  let where = "";
  let wanted = "Bearer first";
  let images: ImageRig;
  let file = "";
  beforeAll(async () => {
    images = imageRig();
    file = join(images.folder, "token");
    const body = Buffer.from("an image");
    const digest = `sha256:${createHash("sha256").update(body).digest("hex")}`;
    server = createServer((request, response) => {
      const path = request.url ?? "";
      if (request.headers.authorization !== wanted) return response.writeHead(401).end();
      if (path.includes("/_catalog")) return response.end(JSON.stringify({ repositories: ["gnu/1", "box"] }));
      if (path.endsWith("/tags/list")) return response.end(JSON.stringify({ tags: ["v1"] }));
      if (path.includes("/blobs/")) return response.end(body);
      const layer = { digest, size: body.length };
      return response.end(JSON.stringify({ layers: path.includes("/box/") ? [layer, layer] : [layer] }));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    where = `oci+http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    images.close();
  });

  test("is authenticated by a token file, which may change; other artifacts are skipped", async () => {
    writeFileSync(file, "first\n");
    const registry = openRegistry(where, file);
    const one = await registry.find("gnu/1:v1", never);
    expect(one === null ? "" : (await bytesOf(await one.read(never))).toString()).toBe("an image");
    expect((await registry.list(never)).map(({ name }) => name)).toEqual(["gnu/1:v1"]);
    wanted = "Basic YTpi";
    await expect(registry.find("gnu/1:v1", never)).rejects.toThrow("answered 401 for gnu/1:v1");
    writeFileSync(file, "Basic YTpi");
    expect(await registry.find("gnu/1:v1", never)).not.toBeNull();
  });

  test("is not read anonymously when the token file is empty", async () => {
    await expect(openRegistry(where, join(images.folder, "gone")).find("gnu/1:v1", never)).rejects.toThrow("ENOENT");
    writeFileSync(file, "two\nlines");
    await expect(openRegistry(where, file).list(never)).rejects.toThrow("is not one line with a token");
  });
});

describe("names and indexes", () => {
  const all = ["a/1:v1", "a/1:v2", "b/1:v1"].map((name, i) => ({
    ...{ name, digest: `sha256:${i}`, sizeBytes: 0, mount: "", views: [], description: "", signature: null },
  }));
  test("a name without a tag must match exactly one image", () => {
    expect(findByName(all, "b/1")?.name).toBe("b/1:v1");
    expect(findByName(all, "a/1:v2")?.digest).toBe("sha256:1");
    expect(findByName(all, "c/1")).toBeNull();
    expect(() => findByName(all, "a/1")).toThrow("a/1:v1 or a/1:v2");
    expect(() => findByName(all, "a/1:v1@sha256:9")).toThrow("wrong digest");
  });
  const good = { name: "a", digest: `sha256:${"0".repeat(64)}`, file: "a.squashfs" };
  test.each([
    ["nothing", {}, "no list"],
    ["a file outside", { images: [{ ...good, file: "../x" }] }, "no file inside"],
    ["an absolute file", { images: [{ ...good, file: "/etc/passwd" }] }, "no file inside"],
    ["no digest", { images: [{ ...good, digest: "md5:1" }] }, "no digest"],
    ["no object", { images: [1] }, "not an object"],
  ])("an index with %s is refused", (_what, value, words) => {
    expect(() => parseIndex(JSON.stringify(value))).toThrow(words);
  });
});
