// How a WebSocket is opened, apart from any platform: Node speaks it over its own sockets, browsers have their own.

import type { WebSocketConnection } from "@lattice/wire";

export interface WebSocketRequest {
  /** http: or https: */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export type OpenWebSocket = (request: WebSocketRequest) => Promise<WebSocketConnection>;
