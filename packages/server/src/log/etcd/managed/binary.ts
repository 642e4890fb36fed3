// Finds the etcd program and checks its version.

import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ManagedError } from "./managed-error.ts";

/** The first version with watch fragments and progress requests, which the engine uses. */
const LEAST = [3, 4] as const;
const VERSION_TIMEOUT_MS = 10_000;
const WHERE_FROM = "install etcd 3.4 or newer (Debian: etcd-server) or name it in quorum.etcd.binary";

interface EtcdBinary {
  readonly path: string;
  readonly version: string;
}

/** `configured` is `null` for the first `etcd` in `searchPath`. */
export async function findEtcd(configured: string | null, searchPath: string): Promise<EtcdBinary> {
  const path = configured ?? (await onPath(searchPath));
  if (path === null) throw new ManagedError("missing_binary", `there is no etcd on the PATH; ${WHERE_FROM}`);
  const version = await versionOf(path);
  if (!recentEnough(version)) {
    throw new ManagedError(
      "too_old",
      `${path} is etcd ${version}, at least ${LEAST.join(".")} is needed; ${WHERE_FROM}`,
    );
  }
  return { path, version };
}

async function onPath(searchPath: string): Promise<string | null> {
  for (const folder of searchPath.split(":")) {
    if (folder === "") continue;
    const path = join(folder, "etcd");
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return null;
}

async function versionOf(path: string): Promise<string> {
  const options = { timeout: VERSION_TIMEOUT_MS, encoding: "utf8" } as const;
  const { stdout } = await promisify(execFile)(path, ["--version"], options).catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === "ENOENT" ? "no such file" : cause.message.split("\n")[0];
    throw new ManagedError("missing_binary", `${path} cannot be run: ${why}; ${WHERE_FROM}`, { cause });
  });
  const version = /etcd version:\s*([0-9]+\.[0-9]+[0-9A-Za-z.+-]*)/i.exec(stdout)?.[1];
  if (version === undefined) throw new ManagedError("missing_binary", `${path} is not etcd; ${WHERE_FROM}`);
  return version;
}

function recentEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1]);
}
