// Reads server-sent events with fetch.

export interface ServerEvent {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventStream {
  readonly status: number;
  /** Returns the next event. Throws after the deadline. */
  next(withinMs?: number): Promise<ServerEvent>;
  close(): void;
}

const NEXT_WITHIN_MS = 120_000;

export async function openEvents(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventStream> {
  const stop = new AbortController();
  const response = await fetch(url, { headers: { accept: "text/event-stream", ...headers }, signal: stop.signal });
  const events = parse(response.body);
  return {
    status: response.status,
    next: async (withinMs = NEXT_WITHIN_MS) => {
      const timer = setTimeout(() => stop.abort(new Error(`no event within ${withinMs} ms`)), withinMs);
      try {
        const { value, done } = await events.next();
        if (done === true || value === undefined) throw new Error("the stream of events has ended");
        return value;
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => stop.abort(),
  };
}

async function* parse(body: ReadableStream<Uint8Array> | null): AsyncGenerator<ServerEvent> {
  if (body === null) return;
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string): string =>
        block
          .split("\n")
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trimStart())
          .join("\n");
      if (field("data") === "") continue;
      yield { id: field("id"), data: JSON.parse(field("data")) as Readonly<Record<string, unknown>> };
    }
  }
}
