// Walks a list page by page and fetches the next page only when the caller needs it.

export interface PageOptions {
  /** Items per request. Default: 200. */
  readonly pageSize?: number;
}

interface Paging {
  readonly page_size: number;
  readonly page_token?: string;
}

const PAGE_SIZE = 200;

export async function* eachItem<Page extends { readonly next_page_token: string }, Item>(
  fetchPage: (paging: Paging) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  { pageSize = PAGE_SIZE }: PageOptions,
): AsyncGenerator<Item> {
  let token = "";
  do {
    const page = await fetchPage({ page_size: pageSize, ...(token === "" ? {} : { page_token: token }) });
    yield* itemsOf(page) ?? [];
    token = page.next_page_token ?? "";
  } while (token !== "");
}
