// A proxy that can hold back answers while requests still pass: a network loses the answer to a write that took effect.

import { connect, createServer, type Socket } from "node:net";

export interface CutProxy {
  readonly endpoint: string;
  /** Holds back all further answers. */
  swallowAnswers(): void;
  /** Ends all connections. */
  cut(): void;
  close(): Promise<void>;
}

export async function startCutProxy(target: string): Promise<CutProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let swallowing = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (bytes) => far.write(bytes));
    far.on("data", (bytes) => {
      if (!swallowing) near.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const listening = typeof address === "object" && address !== null ? address.port : 0;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    endpoint: `http://127.0.0.1:${listening}`,
    swallowAnswers() {
      swallowing = true;
    },
    cut,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
