// The calls of ImageService: what the registry has, and what nodes keep of it.

import type { Caller, CallOptions } from "../call.ts";
import type { CacheAnswer, Image, ImageList, WhichNodes } from "../image-types.ts";
import { queryString } from "../query.ts";
import { withRequestId } from "../request-id.ts";
import type { ChangeOptions } from "./allocations.ts";

export interface ImageCalls {
  list(which?: { readonly filter?: string; readonly node?: string }, options?: CallOptions): Promise<ImageList>;
  inspect(image: string, which?: { readonly node?: string }, options?: CallOptions): Promise<Image>;
  /** Answers when each node has the image, or cannot have it. */
  warm(
    image: string,
    where?: WhichNodes & { readonly sticky?: boolean },
    options?: ChangeOptions,
  ): Promise<CacheAnswer>;
  cache(where?: WhichNodes, options?: CallOptions): Promise<CacheAnswer>;
  evict(image: string, where?: WhichNodes, options?: ChangeOptions): Promise<CacheAnswer>;
}

/** An image of many gigabytes may have to come first. */
const WARM_TIMEOUT_MS = 310_000;

export const imageCalls = (caller: Caller): ImageCalls => ({
  list: (which = {}, options) => caller.json({ method: "GET", path: `/api/v1/images${queryString(which)}` }, options),
  inspect: (image, which = {}, options) =>
    caller.json({ method: "GET", path: `/api/v1/images/inspect${queryString({ image, ...which })}` }, options),
  warm: (image, where = {}, options = {}) =>
    caller.json(change("/api/v1/cache/warm", { image, ...where }, options), { timeoutMs: WARM_TIMEOUT_MS, ...options }),
  cache: (where = {}, options) => caller.json({ method: "GET", path: `/api/v1/cache${queryString(where)}` }, options),
  evict: (image, where = {}, options = {}) =>
    caller.json(change("/api/v1/cache/evict", { image, ...where }, options), options),
});

const change = (path: string, body: object, { requestId }: ChangeOptions) => ({
  method: "POST" as const,
  path,
  body: withRequestId(body, requestId),
  repeatable: true,
});
