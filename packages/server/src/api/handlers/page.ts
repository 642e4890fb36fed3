// Pages of a list. A token is opaque to clients; it contains the last id shown, which stays valid
// when records are added or removed.

import { invalid } from "../../base/problems.ts";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "../limits/limits.ts";

const PREFIX = "1."; // version of the token

export function pageSize(requested: number): number {
  if (requested === 0) return DEFAULT_PAGE_SIZE;
  if (requested > MAX_PAGE_SIZE)
    throw invalid("page_size", `is ${requested}; at most ${MAX_PAGE_SIZE}`, "Follow next_page_token for more.");
  return requested;
}

export const tokenAfter = (id: string): string => Buffer.from(PREFIX + id, "utf8").toString("base64url");

/** Returns the last id of the previous page; `null` for the first page. */
export function readToken(token: string): string | null {
  if (token === "") return null;
  const text = Buffer.from(token, "base64url").toString("utf8");
  const id = text.slice(PREFIX.length);
  if (text.startsWith(PREFIX) && id !== "" && id.length < 256 && tokenAfter(id) === token) return id;
  throw invalid("page_token", "is not a token of this list", "Pass next_page_token of the previous page unchanged.");
}

/** Returns one page of records that are ordered by id. */
export function pageOf<T extends { readonly id: string }>(
  records: Iterable<T>,
  request: { readonly pageSize: number; readonly pageToken: string },
  wanted: (record: T) => boolean,
): { readonly shown: readonly T[]; readonly next: string; readonly total: number } {
  const size = pageSize(request.pageSize);
  const after = readToken(request.pageToken);
  const shown: T[] = [];
  let total = 0;
  let more = false;
  for (const record of records) {
    if (!wanted(record)) continue;
    total += 1;
    if (after !== null && record.id <= after) continue;
    if (shown.length < size) shown.push(record);
    else more = true;
  }
  const last = shown.at(-1);
  return { shown, next: more && last !== undefined ? tokenAfter(last.id) : "", total };
}

/** Sorts by id; for short lists that the state does not keep in order. */
export const inOrder = <T extends { readonly id: string }>(records: Iterable<T>): T[] =>
  [...records].sort((a, b) => (a.id < b.id ? -1 : 1));
