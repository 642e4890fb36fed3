// A local registry with container images made of files of this machine: a shell, and programs with their libraries.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { eventually } from "./eventually.ts";
import { HOST } from "./host.ts";
import { freePorts } from "./quorum.ts";

export interface Registry {
  /** host:port */
  readonly address: string;
  /** Creates an image of these files, at the same paths, with their libraries. Returns its name. */
  push(name: string, files: readonly string[]): string;
  close(): Promise<void>;
}

export async function startRegistry(): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-images-"));
  const address = `${HOST}:${(await freePorts(1))[0]}`;
  const config = join(folder, "registry.yml");
  const storage = `storage: {filesystem: {rootdirectory: ${join(folder, "registry")}}}`;
  writeFileSync(config, `version: 0.1\n${storage}\nhttp: {addr: "${address}"}\n`);
  const process_ = spawn("docker-registry", ["serve", config], { stdio: "ignore" });
  await eventually({ what: "the registry answers" }, async () => (await fetch(`http://${address}/v2/`)).ok || null);
  const store = ["--root", join(folder, "store"), "--runroot", join(folder, "run"), "--cgroup-manager", "cgroupfs"];
  const podman = (...words: string[]): void => void execFileSync("podman", [...store, ...words], { stdio: "pipe" });
  return {
    address,
    push(name, files) {
      const tree = join(folder, name);
      for (const file of [...files, ...files.flatMap(librariesOf)]) copyInto(tree, file);
      mkdirSync(join(tree, "bin"), { recursive: true });
      cpSync("/bin/busybox", join(tree, "bin", "busybox"));
      for (const tool of ["sh", "sleep", "echo", "true"]) symlinkSync("busybox", join(tree, "bin", tool));
      execFileSync("tar", ["-C", tree, "-cf", `${tree}.tar`, "."]);
      podman("import", "-q", `${tree}.tar`, `localhost/${name}:1`);
      podman("push", "-q", "--tls-verify=false", `localhost/${name}:1`, `${address}/${name}:1`);
      return `${address}/${name}:1`;
    },
    async close() {
      await ended(process_);
      podman("rmi", "-af");
      rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
    },
  };
}

/** Adds a file under all of its names. */
function copyInto(tree: string, file: string): void {
  const to = join(tree, file);
  mkdirSync(dirname(to), { recursive: true });
  cpSync(realpathSync(file), to);
}

const librariesOf = (file: string): readonly string[] =>
  execFileSync("ldd", [file], { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? []);

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}
