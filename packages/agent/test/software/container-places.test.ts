// Where a container's command starts and what is mounted for it: nothing is created by root in mounted folders, and
// the rights of the user decide.

import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { containerMounts } from "../../src/runtime/container/binds.ts";
import { refuseFeatures } from "../../src/runtime/podman/features.ts";
import { type Rig, rig } from "../rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";
import { type ContainerRig, containerRig } from "./container-rig.ts";

let containers: ContainerRig;
let r: Rig;
let data: string;
let inside: string;
let next = 1;
/** Containers of an agent without a user mapping run as nobody. */
const NOBODY = 65_534;
const FAILED = { reason: "prologue_failed" };

beforeAll(async () => {
  containers = await containerRig();
  data = mkdtempSync(join(tmpdir(), "lattice-places-"));
  for (const name of ["own", "others", "closed", "closed/open"]) mkdirSync(join(data, name), { mode: 0o755 });
  writeFileSync(join(data, "closed/open/file"), "secret\n");
  execFileSync("chmod", ["755", data]);
  execFileSync("chmod", ["700", join(data, "closed")]);
  chownSync(join(data, "own"), NOBODY, NOBODY);
  inside = containers.variant("inside", [
    "COPY tree/bin /wd/x",
    "WORKDIR /wd/x",
    "VOLUME /data/volume",
    "HEALTHCHECK CMD echo ill >/data/ill",
  ]);
  const software = { ...DEFAULT_SOFTWARE, insecureRegistries: [containers.registry], cacheMinFreeBytes: 0 };
  r = await rig({ options: { software } });
});
afterAll(async () => {
  await r.close();
  await containers.close();
  rmSync(data, { recursive: true, force: true, maxRetries: 9 });
});

type Order = Extract<Parameters<Rig["server"]["run"]>[0], { readonly $typeName?: never }>;

async function run(order: Order, image = containers.image) {
  const id = String(next++);
  r.server.run({ ...order, allocationId: id, environment: { image } });
  const report = await r.server.end(id);
  return { report, out: r.file(id, "stdout"), errors: r.file(id, "stderr") };
}

const writable = (name: string) => ({ mounts: [{ source: join(data, name), target: "/data", access: "read-write" }] });

test("a container starts in the image's directory, and volumes and health checks of the image are ignored", async () => {
  const { report, out, errors } = await run({ command: ["pwd"], ...writable("own") }, inside);
  expect(report, errors).toMatchObject({ exitCode: 0 });
  expect(out).toBe("/wd/x\n");
  const missing = containers.variant("missing", ["WORKDIR /no/such"]);
  expect((await run({ command: ["pwd"] }, missing)).out).toBe("/\n");
  expect(readdirSync(join(data, "own"))).toEqual([]);
});

test("a directory that does not exist is not created, neither in the image nor in mounted data", async () => {
  for (const workdir of ["/no/such", "/data/new"]) {
    const { report, out } = await run({ command: ["pwd"], workdir, ...writable("own") });
    expect(report).toMatchObject(FAILED);
    expect(report.message).toBe(`prologue failed (workdir): the working directory does not exist: ${workdir}`);
    expect(out).toBe("");
  }
  expect(existsSync(join(data, "own", "new"))).toBe(false);
});

test("a directory that the user cannot enter is refused, and so is a mount of a folder below one", async () => {
  const mounts = [{ source: data, target: "/data" }];
  const { report } = await run({ command: ["pwd"], workdir: "/data/closed/open", mounts });
  expect(report).toMatchObject(FAILED);
  expect(report.message).toContain("(workdir): the working directory is not accessible to the user: /data/closed/open");
  const below = [{ source: join(data, "closed/open"), target: "/data" }];
  const mounted = await run({ command: ["cat", "/data/file"], mounts: below });
  expect(mounted.report).toMatchObject(FAILED);
  expect(mounted.report.message).toContain("nobody may not read the source");
  expect(mounted.out).toBe("");
});

test("a folder that the user cannot write to is mounted read-only alone", async () => {
  const { report } = await run({ command: ["true"], ...writable("others") });
  expect(report).toMatchObject(FAILED);
  expect(report.message).toContain(`nobody may not write to ${data}/others: mount it read-only`);
  const mounts = [{ source: join(data, "others"), target: "/data" }];
  expect((await run({ command: ["true"], mounts })).report).toMatchObject({ exitCode: 0 });
});

test("an image with an instruction to the runtime is refused and does not stay on the node", async () => {
  const owned = join(data, "owned");
  const image = containers.variant("evil", ["LABEL a=b"], ["--annotation", `run.oci.hooks.stdout=${owned}`]);
  const { report } = await run({ command: ["true"] }, image);
  expect(report).toMatchObject(FAILED);
  expect(report.message).toContain('has the annotation or label "run.oci.hooks.stdout", an instruction to the');
  expect(existsSync(owned)).toBe(false);
});

test.each([
  ["run.oci.handler", true],
  ["org.systemd.property.CPUWeight", true],
  ["module.wasm.image/variant", true],
  ["org.criu.config", true],
  ["io.podman.annotations.privileged", true],
  ["org.opencontainers.image.title", false],
  ["io.buildah.version", false],
  ["com.example.run.oci.handler", false],
])("an image with the annotation %s is refused: %s", (name, isRefused) => {
  const check = () => refuseFeatures("x", [null, { [name]: "" }, undefined]);
  if (isRefused) expect(check).toThrow(expect.objectContaining({ stage: "image" }));
  else expect(check).not.toThrow();
});

test("mounts of a user and folders that the container needs are never inside each other", () => {
  const dir = "/scratch/agent/1.1";
  const own = (at: string) => ({ kind: "own", source: at, at, readOnly: false }) as const;
  const bind = (source: string, at: string) => ({ kind: "bind", source, at, readOnly: false }) as const;
  const plan = (data: ReturnType<typeof bind>[], binds: ReturnType<typeof own>[] = [], script = "") =>
    containerMounts({ dir, order: { script } as never, data, binds }, [{ at: "/opt/lattice", readOnly: true }]).steps;
  expect(() => plan([bind("/a", "/opt")])).toThrow("the mount at /opt overlaps with /opt/lattice, which the container");
  expect(() => plan([bind("/a", "/scratch")], [], "x")).toThrow("overlaps with /scratch/agent/1.1/script");
  expect(() => plan([bind("/a", "/scratch")], [own("/scratch/1")])).toThrow("overlaps with /scratch/1");
  expect(() => plan([bind("/a", "/out/in")], [own("/out")])).toThrow("overlaps with /out");
  expect(() => plan([bind("/a", "/out")], [own("/out")])).toThrow("overlaps with /out");
  expect(plan([bind("/a", "/data")], [own("/out")])).toHaveLength(2);
  expect(plan([bind("/proj", "/proj")], [own("/proj/out")])).toHaveLength(1);
});
