// A log store whose failures can be distinguished: an unreadable log concerns one attempt, an unavailable store all of
// them. Only a successful write shows that the store is back.

import type { LogStore } from "../store/log-store.ts";

export class StoreAwayError extends Error {}

export function watchedStore(store: LogStore, took: () => void): LogStore {
  const away = (error: Error): never => {
    throw new StoreAwayError(error.message, { cause: error });
  };
  return {
    place: store.place,
    async put(key, bytes, type) {
      await store.put(key, bytes, type).catch(away);
      took();
    },
    get: (key) => store.get(key).catch(away),
  };
}
