// Brings a container image into podman's store, pins it in the cache, and records what the attempt holds.

import { PrologueError } from "../../base/prologue-error.ts";
import { digestOfName, repositoryOf, withoutTag } from "../../images/container-name.ts";
import { type ContainerImage, ImageStoreFullError } from "../../images/images.ts";
import type { EngineAttempt, PrologueParts } from "../base/engine.ts";
import { nameOf, noteHoldings } from "../prologue/attempt-holdings.ts";
import { refuseFeatures } from "./features.ts";
import { CALL_TIMEOUT_MS, type ContainerStore, call, removeImage } from "./podman.ts";

const PULL_TIMEOUT_MS = 600_000;

export async function prepare(
  parts: PrologueParts,
  attempt: EngineAttempt,
  signal: AbortSignal,
): Promise<ContainerImage> {
  const name = attempt.order.environment?.image ?? "";
  const image = await parts.images.container(name, attempt.key, signal).catch((error: Error) => {
    throw error instanceof ImageStoreFullError ? new PrologueError("cache", `${name}: ${error.message}`) : error;
  });
  await noteHoldings(parts, attempt, nameOf(attempt.key));
  return image;
}

interface PullRequest {
  readonly name: string;
  /** The image that was fetched under that name before. */
  readonly known: string | null;
}

/**
 * Fetches an image from its registry, unless it is present by digest. While the registry is unreachable, the image that
 * this node fetched last under exactly that name is used. Other images in the store are never taken for it: what they
 * are called proves nothing.
 */
export async function pullImage(
  store: ContainerStore,
  wanted: PullRequest,
  signal: AbortSignal,
): Promise<ContainerImage> {
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
  try {
    const found = await inspect(store, { name, id }, signal);
    if (found !== null) return found.image;
  } catch (error) {
    await removeImage(store, id);
    throw error;
  }
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
  const found = digest === null ? null : await inspect(store, { name, id: exact }, signal);
  return found?.origins.includes(exact) === true ? found.image : null;
}

async function fetchedBefore(
  store: ContainerStore,
  { name, known }: PullRequest,
  signal: AbortSignal,
): Promise<ContainerImage | null> {
  if (known === null || digestOfName(name) !== null) return null;
  const found = await inspect(store, { name, id: known }, signal);
  const isOfRepository = found?.origins.some((origin) => origin.startsWith(`${repositoryOf(name)}@`));
  return isOfRepository === true ? (found?.image ?? null) : null;
}

interface Inspected {
  readonly image: ContainerImage;
  /** Repositories and digests that it was fetched under. */
  readonly origins: readonly string[];
}

const FORMAT = "{{.Id}} {{.Size}} [{{json .RepoDigests}},{{json .Config}},{{json .Labels}},{{json .Annotations}}]";

type Texts = Readonly<Record<string, string>> | null;
interface ImageConfig {
  readonly Env?: readonly string[];
  readonly WorkingDir?: string;
}
type Inspection = readonly [origins: readonly string[] | null, ImageConfig | null, labels: Texts, annotations: Texts];

/** Returns null when the store has no such image. Throws for one that must not run; `name` is for the message. */
async function inspect(
  store: ContainerStore,
  { name, id: wanted }: { readonly name: string; readonly id: string },
  signal: AbortSignal,
): Promise<Inspected | null> {
  const words = ["image", "inspect", "--format", FORMAT, "--", wanted];
  const { code, stdout } = await call(store, words, CALL_TIMEOUT_MS, signal);
  const [, id, size, rest = ""] = /^(\S+) (\d+) (\[.*\])$/m.exec(stdout) ?? [];
  if (code !== 0 || id === undefined) return null;
  const [origins, config, labels, annotations] = JSON.parse(rest) as Inspection;
  refuseFeatures(name, [labels, annotations]);
  const { Env: variables = [], WorkingDir: workdir = "" } = config ?? {};
  return { image: { id, sizeBytes: Number(size), variables: variablesOf(variables), workdir }, origins: origins ?? [] };
}

function variablesOf(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => [entry.split("=", 1)[0] ?? "", entry.slice(entry.indexOf("=") + 1)]),
  );
}

/** Returns the last line, which has the reason. */
const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.slice(0, 400) ?? "";
