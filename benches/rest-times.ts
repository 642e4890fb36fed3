// Durations of REST calls, one after the other on one connection.
import { Agent, request } from "node:http";

/** Returns milliseconds, in the order of the paths. */
export async function timesOf(address: string, paths: readonly string[]): Promise<readonly number[]> {
  const [host = "", port = ""] = address.split(":");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (const path of paths) {
    const began = performance.now();
    await new Promise<void>((resolve, reject) => {
      const sent = request({ host, port, path, agent }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`${path} returned status ${answer.statusCode}`));
        answer.resume().once("end", resolve);
      });
      sent.once("error", reject).end();
    });
    times.push(performance.now() - began);
  }
  agent.destroy();
  return times;
}
