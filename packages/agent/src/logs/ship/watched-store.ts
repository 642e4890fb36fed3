// A log store whose failures can be told from all others: an unreadable log is the trouble of one attempt, a store
// that is away is that of all. Only what it takes shows that it is back: some answer questions while they are not.

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
