// Walks a list page by page, fetching the next page only when it is asked for.

import type { Paging } from "./types.ts";

export async function* eachItem<Page extends { readonly next_page_token?: string }, Item>(
  fetchPage: (paging: Paging) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  pageSize: number,
): AsyncGenerator<Item> {
  let token: string | undefined;
  do {
    const page = await fetchPage({ page_size: pageSize, ...(token === undefined ? {} : { page_token: token }) });
    yield* itemsOf(page);
    token = page.next_page_token === "" ? undefined : page.next_page_token;
  } while (token !== undefined);
}
