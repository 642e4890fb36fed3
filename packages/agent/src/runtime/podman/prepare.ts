// Brings a container image into podman's store, pins it in the cache, and records what the attempt holds.

import { PrologueError } from "../../base/prologue-error.ts";
import { digestOfName, repositoryOf, withoutTag } from "../../images/container-name.ts";
import { type ContainerImage, NoPlaceError } from "../../images/images.ts";
import type { EngineAttempt, PrologueParts } from "../engine.ts";
import { nameOf, noteHeld } from "../prologue/attempt-holdings.ts";
import { CALL_TIMEOUT_MS, type ContainerStore, call, removeImage } from "./podman.ts";

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

interface Wanted {
  readonly name: string;
  /** The image that was fetched under that name before. */
  readonly known: string | null;
}

/**
 * Fetches an image from its registry, unless it is present by digest. While the registry is unreachable, the image that
 * this node fetched last under exactly that name is used. Other images in the store are never taken for it: what they
 * are called proves nothing.
 */
export async function pullImage(store: ContainerStore, wanted: Wanted, signal: AbortSignal): Promise<ContainerImage> {
  const { name } = wanted;
  const present = await presentByDigest(store, name, signal);
  if (present !== null) return present;
  const tls = store.insecure.some((host) => name.startsWith(`${host}/`)) ? ["--tls-verify=false"] : [];
  // podman takes a tag or a digest, not both; the digest is stricter. The transport keeps a name from being a file.
  const source = `docker://${digestOfName(name) === null ? name : withoutTag(name)}`;
  const pulled = await call(store, ["pull", "-q", ...tls, "--", source], PULL_TIMEOUT_MS, signal);
  if (pulled.code !== 0) {
    const before = await fetchedBefore(store, wanted, signal);
    if (before !== null) return before;
    throw new PrologueError("image", `cannot pull ${name}: ${lastLine(pulled.stderr)}`);
  }
  const id = lastLine(pulled.stdout);
  const found = await inspect(store, id, signal);
  if (found !== null) return found.image;
  // An image that is not used must not stay in the store, where the cache does not count it.
  await removeImage(store, id);
  throw new PrologueError("image", `${name} was pulled, but is not in podman's store`);
}

async function presentByDigest(
  store: ContainerStore,
  name: string,
  signal: AbortSignal,
): Promise<ContainerImage | null> {
  const digest = digestOfName(name);
  const exact = `${repositoryOf(name)}@${digest}`;
  const found = digest === null ? null : await inspect(store, exact, signal);
  return found?.origins.includes(exact) === true ? found.image : null;
}

async function fetchedBefore(
  store: ContainerStore,
  { name, known }: Wanted,
  signal: AbortSignal,
): Promise<ContainerImage | null> {
  if (known === null || digestOfName(name) !== null) return null;
  const found = await inspect(store, known, signal);
  const isOfRepository = found?.origins.some((origin) => origin.startsWith(`${repositoryOf(name)}@`));
  return isOfRepository === true ? (found?.image ?? null) : null;
}

interface Inspected {
  readonly image: ContainerImage;
  /** Repositories and digests that it was fetched under. */
  readonly origins: readonly string[];
}

async function inspect(store: ContainerStore, name: string, signal: AbortSignal): Promise<Inspected | null> {
  const format = "{{.Id}} {{.Size}} {{json .RepoDigests}} {{json .Config.Env}}";
  const words = ["image", "inspect", "--format", format, "--", name];
  const { code, stdout } = await call(store, words, CALL_TIMEOUT_MS, signal);
  const [, id, size, origins = "null", variables = "null"] = /^(\S+) (\d+) (\S+) (.*)$/m.exec(stdout) ?? [];
  if (code !== 0 || id === undefined) return null;
  return {
    image: { id, sizeBytes: Number(size), variables: variablesOf(variables) },
    origins: (JSON.parse(origins) as readonly string[] | null) ?? [],
  };
}

function variablesOf(json: string): Record<string, string> {
  const entries = (JSON.parse(json) as readonly string[] | null) ?? [];
  return Object.fromEntries(
    entries.map((entry) => [entry.split("=", 1)[0] ?? "", entry.slice(entry.indexOf("=") + 1)]),
  );
}

/** Returns the last line, which has the reason. */
const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.slice(0, 400) ?? "";
