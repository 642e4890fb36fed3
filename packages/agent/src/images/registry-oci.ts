// SquashFS images in an OCI registry, as one-layer artifacts: `prgenv-gnu/24.11:v1` is the tag v1 of the repository
// prgenv-gnu/24.11 under the registry's prefix, and the digest is that of the layer. Access is anonymous or with a
// token from a file, read for each request so that it can be renewed. The token is sent to the registry only, never to
// a redirect.

import { withDeadline } from "@lattice/wire";
import { findByName, type ImageRegistry, type RegistryImage } from "./registry.ts";
import { download } from "./registry-http.ts";

const MANIFEST = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";
const SIGNATURE = "lattice.signature";
const TIMEOUT_MS = 10_000;
/** Listing makes one request per repository. */
const MAX_REPOSITORIES = 1_000;

interface Manifest {
  readonly layers?: readonly { readonly digest: string; readonly size: number }[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** `token`: the current content of the token file. Default: anonymous access. */
export function ociRegistry(where: string, token: () => Promise<string | null> = async () => null): ImageRegistry {
  const plain = where.startsWith("oci+http://");
  const [host = "", ...prefix] = where.slice(where.indexOf("://") + 3).split("/");
  const base = `${plain ? "http" : "https"}://${host}/v2`;
  const within = prefix.filter((part) => part !== "").join("/");
  const repository = (name: string): string => (within === "" ? name : `${within}/${name}`);

  async function named(): Promise<Record<string, string>> {
    const known = await token();
    return known === null ? {} : { authorization: known.includes(" ") ? known : `Bearer ${known}` };
  }

  async function ask(path: string, signal: AbortSignal): Promise<Response> {
    return fetch(`${base}/${path}`, {
      headers: { accept: MANIFEST, ...(await named()) },
      signal: withDeadline(signal, TIMEOUT_MS),
    });
  }

  async function image(name: string, tag: string, signal: AbortSignal): Promise<RegistryImage | null> {
    const answer = await ask(`${repository(name)}/manifests/${tag}`, signal);
    if (answer.status === 404) return null;
    if (!answer.ok) throw new Error(`${host} answered ${answer.status} for ${name}:${tag}`);
    const { layers = [], annotations = {} } = (await answer.json()) as Manifest;
    const [layer, second] = layers;
    if (layer === undefined || second !== undefined)
      throw new NoArtifactError(`${name}:${tag} is not a SquashFS artifact`);
    const blob = new URL(`${base}/${repository(name)}/blobs/${layer.digest}`);
    return {
      name: `${name}:${tag}`,
      digest: layer.digest,
      sizeBytes: layer.size,
      mount: "",
      views: [],
      description: annotations["org.opencontainers.image.description"] ?? "",
      signature: annotations[SIGNATURE] ?? null,
      read: async (abort) => download(blob, await named(), abort),
    };
  }

  async function tagsOf(name: string, signal: AbortSignal): Promise<readonly string[]> {
    const answer = await ask(`${repository(name)}/tags/list`, signal);
    if (answer.status === 404) return [];
    if (!answer.ok) throw new Error(`${host} answered ${answer.status} for the tags of ${name}`);
    return ((await answer.json()) as { tags: string[] | null }).tags ?? [];
  }

  async function allOf(name: string, signal: AbortSignal): Promise<RegistryImage[]> {
    const each = async (tag: string) => image(name, tag, signal).catch(passOver);
    const found = await Promise.all((await tagsOf(name, signal)).map(each));
    return found.filter((one) => one !== null);
  }

  return {
    where,
    async find(asked, signal) {
      const [name = ""] = asked.split("@");
      const colon = name.lastIndexOf(":");
      if (colon < 0) return findByName(await allOf(name, signal), asked);
      const found = await image(name.slice(0, colon), name.slice(colon + 1), signal);
      return found === null ? null : findByName([found], asked);
    },
    async list(signal) {
      const answer = await ask(`_catalog?n=${MAX_REPOSITORIES}`, signal);
      if (!answer.ok) throw new Error(`${host} answered ${answer.status} for its catalogue`);
      const { repositories = [] } = (await answer.json()) as { repositories?: string[] };
      const names = repositories.flatMap((name) => {
        if (within === "") return [name];
        return name.startsWith(`${within}/`) ? [name.slice(within.length + 1)] : [];
      });
      const found: RegistryImage[] = [];
      for (const name of names) found.push(...(await allOf(name, signal)));
      return found;
    },
  };
}

class NoArtifactError extends Error {}

/** Other artifacts in the registry are not an error. */
const passOver = (error: unknown): null => {
  if (error instanceof NoArtifactError) return null;
  throw error;
};
