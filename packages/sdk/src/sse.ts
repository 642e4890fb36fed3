// Parses server-sent events (WHATWG HTML, section 9.2). An empty line ends an event; a line that starts with a colon
// keeps the connection alive. Only the fields that Lattice sends are kept.

export interface ServerSentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** No event of Lattice is larger. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;

export async function* parseEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let draft = emptyDraft();
  for await (const line of lines(bytes)) {
    if (line === "") {
      if (draft.data.length > 0) yield { id: draft.id, event: draft.event, data: draft.data.join("\n") };
      draft = { ...emptyDraft(), id: draft.id };
      continue;
    }
    takeField(draft, line);
  }
}

interface Draft {
  id: string;
  event: string;
  data: string[];
}

const emptyDraft = (): Draft => ({ id: "", event: "message", data: [] });

function takeField(draft: Draft, line: string): void {
  const colon = line.indexOf(":");
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
  if (name === "data") draft.data.push(value);
  if (name === "event") draft.event = value;
  if (name === "id") draft.id = value;
}

async function* lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > MAX_EVENT_CHARS) throw new Error("The server sent an event that is too long");
    // A "\r" at the very end may be the first half of "\r\n".
    const parts = rest.split(/\r\n|\n|\r(?!$)/);
    rest = parts.pop() ?? "";
    yield* parts;
  }
}
