// Brings a container image into podman's store, pins it in the cache, and records what the attempt holds.

import { PrologueError } from "../../base/prologue-error.ts";
import { type ContainerImage, NoPlaceError } from "../../images/images.ts";
import type { EngineAttempt, PrologueParts } from "../engine.ts";
import { nameOf, noteHeld } from "../prologue/attempt-holdings.ts";
import { CALL_TIMEOUT_MS, type ContainerStore, call } from "./podman.ts";

const PULL_TIMEOUT_MS = 600_000;

export async function prepare(
  parts: PrologueParts,
  attempt: EngineAttempt,
  signal: AbortSignal,
): Promise<ContainerImage> {
  const name = attempt.order.environment?.image ?? "";
  const image = await parts.images.container(name, attempt.key, signal).catch((error: Error) => {
    throw error instanceof NoPlaceError ? new PrologueError("cache", `${name}: ${error.message}`) : error;
  });
  await noteHeld(parts, attempt, nameOf(attempt.key));
  return image;
}

/**
 * Asks the registry, unless the image is present by digest; the present image is used while the registry is
 * unreachable.
 */
export async function pullImage(store: ContainerStore, asked: string, signal: AbortSignal): Promise<ContainerImage> {
  const name = withoutTag(asked);
  const byDigest = name.includes("@");
  const here = await inspect(store, name, signal);
  if (here !== null && byDigest) return here;
  const tls = store.insecure.some((host) => name.startsWith(`${host}/`)) ? ["--tls-verify=false"] : [];
  const pulled = await call(store, ["pull", "-q", ...tls, name], PULL_TIMEOUT_MS, signal);
  if (pulled.code !== 0 && here === null)
    throw new PrologueError("image", `cannot pull ${asked}: ${lastLine(pulled.stderr)}`);
  const image = await inspect(store, name, signal);
  if (image === null) throw new PrologueError("image", `${asked} was pulled, but is not in podman's store`);
  return image;
}

/** podman takes a tag or a digest, not both; the digest is stricter. */
function withoutTag(name: string): string {
  const [head = "", digest] = name.split("@");
  if (digest === undefined) return name;
  const colon = head.lastIndexOf(":");
  return `${colon > head.lastIndexOf("/") ? head.slice(0, colon) : head}@${digest}`;
}

async function inspect(store: ContainerStore, name: string, signal: AbortSignal): Promise<ContainerImage | null> {
  const format = "{{.Id}} {{.Digest}} {{.Size}} {{json .Config.Env}}";
  const { code, stdout } = await call(store, ["image", "inspect", "--format", format, name], CALL_TIMEOUT_MS, signal);
  const [, id, , size, variables] = /^(\S+) (\S+) (\d+) (.*)$/m.exec(stdout) ?? [];
  if (code !== 0 || id === undefined) return null;
  return { id, sizeBytes: Number(size), variables: variablesOf(variables ?? "") };
}

function variablesOf(json: string): Record<string, string> {
  const entries = (JSON.parse(json) as readonly string[] | null) ?? [];
  return Object.fromEntries(
    entries.map((entry) => [entry.split("=", 1)[0] ?? "", entry.slice(entry.indexOf("=") + 1)]),
  );
}

/** Returns the last line, which has the reason. */
const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.slice(0, 400) ?? "";
