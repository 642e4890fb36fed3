// Clients that start a request and never finish it: each sends a few bytes now and then until the server disconnects.
import { connect } from "node:net";

const SEND_MS = 250;

/** Sends `begin` at once and `more` repeatedly, if not null. Resolves with the responses after all were disconnected. */
export function runSlowClients(
  address: string,
  count: number,
  begin: string,
  more: string | null,
): Promise<readonly string[]> {
  const [host, port] = address.split(":");
  const one = (): Promise<string> =>
    new Promise((resolve) => {
      let text = "";
      let timer: NodeJS.Timeout | undefined;
      const socket = connect(Number(port), host, () => {
        socket.write(begin);
        if (more !== null) timer = setInterval(() => socket.writable && socket.write(more), SEND_MS);
      });
      socket.on("data", (data: Buffer) => {
        text += data.toString("latin1");
      });
      socket.on("error", () => undefined);
      socket.on("close", () => {
        clearInterval(timer);
        resolve(text);
      });
    });
  return Promise.all(Array.from({ length: count }, one));
}
