// The transport for browsers, and for any runtime without `node:http`. fetch does not distinguish a refused connection
// from a broken one, so every failure before the headers counts as broken.

import { type HttpRequest, type HttpResponse, type Transport, TransportError } from "./transport.ts";

export function createFetchTransport(): Transport {
  return async (request) => {
    const controller = new AbortController();
    const watchdog = createWatchdog(request, controller);
    try {
      const response = await fetch(request.url, {
        method: request.method,
        headers: request.headers,
        ...(request.body === undefined ? {} : { body: request.body }),
        signal: controller.signal,
      });
      watchdog.touch();
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers.entries()),
        body: readBody(response, watchdog, controller),
      };
    } catch (error) {
      watchdog.stop();
      throw watchdog.reason() ?? new TransportError("broken", error instanceof Error ? error.message : String(error));
    }
  };
}

interface Watchdog {
  touch(): void;
  stop(): void;
  reason(): TransportError | null;
}

function createWatchdog(request: HttpRequest, controller: AbortController): Watchdog {
  let why: TransportError | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (error: TransportError) => {
    why ??= error;
    controller.abort();
  };
  const onAbort = () => end(new TransportError("aborted", "The call was aborted"));
  const touch = () => {
    clearTimeout(timer);
    if (request.idleTimeoutMs === 0) return;
    const seconds = request.idleTimeoutMs / 1000;
    timer = setTimeout(() => end(new TransportError("timeout", `No answer for ${seconds} s`)), request.idleTimeoutMs);
  };
  if (request.signal?.aborted === true) onAbort();
  request.signal?.addEventListener("abort", onAbort, { once: true });
  touch();
  return {
    touch,
    stop: () => {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", onAbort);
    },
    reason: () => why,
  };
}

async function* readBody(
  response: Response,
  watchdog: Watchdog,
  controller: AbortController,
): HttpResponse["body"] extends AsyncIterable<infer T> ? AsyncGenerator<T> : never {
  const reader = response.body?.getReader();
  try {
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      watchdog.touch();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw watchdog.reason() ?? new TransportError("broken", error instanceof Error ? error.message : String(error));
  } finally {
    watchdog.stop();
    controller.abort();
  }
}
