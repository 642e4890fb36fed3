// The transport that the client needs: send a request, receive a status and a stream of bytes. There are two
// implementations: `node:http`, which loads in a few milliseconds, and fetch for browsers. Failures below HTTP are a
// `TransportError`, so that retries are decided in one place.

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for the headers, and then for each chunk of the body. 0: no limit. */
  readonly idleTimeoutMs: number;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** May be read once. Leaving the loop early ends the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** `unreachable`: nothing was sent, so a retry is always safe. `broken`, `timeout`: the request may have been executed. */
export type TransportFailure = "unreachable" | "broken" | "timeout" | "aborted";

export class TransportError extends Error {
  readonly kind: TransportFailure;
  constructor(kind: TransportFailure, message: string) {
    super(message);
    this.name = "TransportError";
    this.kind = kind;
  }
}

export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
