// Clients that begin to ask and never finish: each says a little now and then, for as long as it is listened to.
import { connect } from "node:net";

const SAY_MS = 250;

/** `begin` at once, and `more` again and again; null: not a word. What each was told comes once all of them were let go. */
export function slowClients(
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
        if (more !== null) timer = setInterval(() => socket.writable && socket.write(more), SAY_MS);
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
