// Submissions over REST, with one keep-alive connection per worker.
import { Agent, request } from "node:http";
import { type Connection, type LoadSettings, runLoad } from "./load.ts";

const settings = JSON.parse(process.argv[2] ?? "{}") as LoadSettings;
const [host = "", port = ""] = settings.address.split(":");
const payload = Buffer.from(JSON.stringify(settings.body));
const headers = { "content-type": "application/json", "content-length": payload.length };

function connect(): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const options = { host, port, method: "POST", path: "/api/v1/allocations", headers, agent };
  return () =>
    new Promise((resolve, reject) => {
      const sent = request(options, (answer) => {
        answer.resume();
        answer.once("error", reject);
        answer.once("end", () => {
          if (answer.statusCode === 200) resolve();
          else reject(new Error(`status ${answer.statusCode}`));
        });
      });
      sent.once("error", reject);
      sent.end(payload);
    });
}

await runLoad(settings, connect);
