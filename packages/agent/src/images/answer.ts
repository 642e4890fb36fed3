// Answers queries of the servers about images, the cache and the node. A failed query is answered with its error,
// because the server would wait for a missing answer.

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { pb } from "@lattice/wire";
import type { CacheStatus } from "./cache.ts";
import type { Images } from "./images.ts";
import type { ImageInfo } from "./registry.ts";

/** The server's longest timeout. */
const ANSWER_WITHIN_MS = 300_000;
/** Longer lists are cut; a filter finds the rest. */
const MAX_LISTED = 1_000;

export interface ImageQuestionHost {
  readonly images?: Images;
  readonly examine?: (fresh: boolean) => Promise<pb.NodeCondition>;
}

export async function answerQuery(
  { images, examine }: ImageQuestionHost,
  request: pb.ImageRequest,
): Promise<pb.ImageAnswer> {
  const { requestId, ask } = request;
  try {
    if (ask.case === "condition") {
      if (examine === undefined) throw new Error("this node is simulated");
      return create(pb.ImageAnswerSchema, { requestId, condition: await examine(ask.value.fresh) });
    }
    if (images === undefined) throw new Error("this node keeps no images");
    return create(pb.ImageAnswerSchema, { requestId, ...(await answer(images, ask)) });
  } catch (error) {
    return create(pb.ImageAnswerSchema, { requestId, error: (error as Error).message });
  }
}

type Answer = { readonly images?: pb.Image[]; readonly cache?: pb.NodeCache };

async function answer(images: Images, ask: pb.ImageRequest["ask"]): Promise<Answer> {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  switch (ask.case) {
    case "list": {
      const all = await images.list(signal);
      const found = all.filter(({ name }) => name.includes(ask.value.filter));
      return { images: found.slice(0, MAX_LISTED).map(imageMessage) };
    }
    case "inspect": {
      const found = await images.find(ask.value.image, signal);
      return { images: found === null ? [] : [imageMessage(found)] };
    }
    case "warm":
      return { cache: await warm(images, ask.value, signal) };
    case "evict":
      await images.cache.evict(ask.value.image);
      return { cache: cacheMessage(images.cache.status()) };
    case "status":
      return { cache: cacheMessage(images.cache.status()) };
    default:
      throw new Error("a question that this agent does not know");
  }
}

async function warm(
  images: Images,
  { image, sticky }: pb.WarmCacheRequest,
  signal: AbortSignal,
): Promise<pb.NodeCache> {
  const holder = `warm ${image}`;
  try {
    const digest = (await isContainer(images, image, signal))
      ? (await images.container(image, holder, signal)).id
      : (await images.acquire(image, { holder, signRequired: false }, signal)).digest;
    if (sticky) await images.cache.stick(digest, true);
  } finally {
    images.cache.release(holder);
  }
  return cacheMessage(images.cache.status());
}

/** A name that begins with a host is a container's, unless the registry of the site's own images has it. */
async function isContainer(images: Images, name: string, signal: AbortSignal): Promise<boolean> {
  const [host = "", ...rest] = name.split("/");
  if (rest.length === 0 || !(/[.:]/.test(host) || host === "localhost")) return false;
  return (await images.find(name, signal).catch(() => null)) === null;
}

const imageMessage = ({ name, digest, sizeBytes, mount, views, description, signature }: ImageInfo): pb.Image =>
  create(pb.ImageSchema, {
    name,
    digest,
    sizeBytes,
    mount,
    description,
    signed: signature !== null,
    views: views.map((view) => create(pb.ImageViewSchema, { name: view })),
  });

const cacheMessage = ({ sizeBytes, usedBytes, images }: CacheStatus): pb.NodeCache =>
  create(pb.NodeCacheSchema, {
    sizeBytes,
    usedBytes,
    images: images.map(({ names, digest, kind, sizeBytes: size, lastUsedMs, sticky, pins }) =>
      create(pb.CachedImageSchema, {
        digest,
        kind,
        sticky,
        pins,
        name: names.at(-1) ?? "",
        otherNames: names.slice(0, -1),
        sizeBytes: size,
        lastUsed: timestampFromMs(Math.round(lastUsedMs)),
      }),
    ),
  });
