// A registry process of its own, with a tiny image in it that was made here.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { found } from "../fake-server.ts";

export interface ContainerRig {
  /** host:port */
  readonly registry: string;
  /** With tag. */
  readonly image: string;
  readonly digest: string;
  /** Pushes the image with further lines of a Containerfile and options of its build; returns its name. */
  variant(name: string, lines: readonly string[], options?: readonly string[]): string;
  close(): Promise<void>;
}

/** A loopback address of this process alone, so that its ports are free. */
const HOST = `127.${100 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
const TOOLS = ["sh", "echo", "cat", "id", "env", "sleep", "ls", "touch", "true", "grep", "pwd"];

export async function containerRig(): Promise<ContainerRig> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-containers-"));
  const port = await freePort();
  const registry = `${HOST}:${port}`;
  const config = join(folder, "registry.yml");
  writeFileSync(
    config,
    [
      "version: 0.1",
      `storage: {filesystem: {rootdirectory: ${join(folder, "registry")}}}`,
      `http: {addr: "${registry}"}`,
    ].join("\n"),
  );
  const process_ = spawn("docker-registry", ["serve", config], { stdio: "ignore" });
  const store = ["--root", join(folder, "store"), "--runroot", join(folder, "run")];
  const podman = (...words: string[]): string =>
    execFileSync("podman", [...store, "--cgroup-manager", "cgroupfs", ...words], { encoding: "utf8", stdio: "pipe" });
  const tree = join(folder, "tree");
  mkdirSync(join(tree, "bin"), { recursive: true });
  copyFileSync("/bin/busybox", join(tree, "bin", "busybox"));
  for (const tool of TOOLS) symlinkSync("busybox", join(tree, "bin", tool));
  execFileSync("tar", ["-C", tree, "-cf", join(folder, "tree.tar"), "."]);
  podman("import", "-q", join(folder, "tree.tar"), "localhost/tiny:1");
  await found(() => answers(registry));
  const image = `${registry}/hpc/tiny:1`;
  const digestFile = join(folder, "digest");
  podman("push", "-q", "--tls-verify=false", "--digestfile", digestFile, "localhost/tiny:1", image);
  const digest = execFileSync("cat", [digestFile], { encoding: "utf8" }).trim();
  return {
    registry,
    image,
    digest,
    variant(name, lines, options = []) {
      const file = join(folder, `Containerfile.${name}`);
      writeFileSync(file, ["FROM localhost/tiny:1", ...lines, ""].join("\n"));
      podman("build", "-q", ...options, "-t", `localhost/${name}:1`, "-f", file, folder);
      podman("push", "-q", "--tls-verify=false", `localhost/${name}:1`, `${registry}/hpc/${name}:1`);
      return `${registry}/hpc/${name}:1`;
    },
    async close() {
      await ended(process_);
      podman("rmi", "-af");
      rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
    },
  };
}

function answers(registry: string): boolean {
  try {
    execFileSync(process.execPath, [
      "-e",
      `fetch("http://${registry}/v2/").then(r=>process.exit(r.ok?0:1),()=>process.exit(1))`,
    ]);
    return true;
  } catch {
    return false;
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, HOST, () => {
      const address = server.address();
      server.close(() => (typeof address === "object" && address !== null ? resolve(address.port) : reject()));
    });
  });
}
