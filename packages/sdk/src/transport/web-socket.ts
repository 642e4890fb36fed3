// The interface for opening a WebSocket, independent of the platform.

import type { WebSocketConnection } from "@lattice/wire";

export interface WebSocketRequest {
  /** http: or https: */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export type OpenWebSocket = (request: WebSocketRequest) => Promise<WebSocketConnection>;
