// Something that is fetched once and again from time to time, such as a provider's description of itself. While it cannot be had the
// last one serves on, and is asked for again a little later; callers wait for the first value only, never for a refresh.

export interface RefreshedOptions<T> {
  /** `before`: what there was, so that parts of it can be kept. */
  readonly fetch: (before: T | null) => Promise<T>;
  readonly maxAgeMs: number;
  /** Least time between two tries. */
  readonly cooldownMs: number;
}

/** Rejects only while there has never been one; such a failure is not kept. */
export function refreshed<T>({ fetch, maxAgeMs, cooldownMs }: RefreshedOptions<T>): () => Promise<T> {
  let current: { readonly value: T; readonly atMs: number } | null = null;
  let under: Promise<T> | null = null;
  let triedAtMs = 0;

  function renew(): Promise<T> {
    triedAtMs = Date.now();
    under ??= fetch(current?.value ?? null)
      .then((value) => {
        current = { value, atMs: Date.now() };
        return value;
      })
      .finally(() => {
        under = null;
      });
    return under;
  }

  return async () => {
    if (current === null) return renew();
    const now = Date.now();
    if (now - current.atMs >= maxAgeMs && now - triedAtMs >= cooldownMs) renew().catch(() => undefined);
    return current.value;
  };
}
