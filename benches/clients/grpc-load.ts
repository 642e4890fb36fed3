// Submissions over gRPC: one HTTP/2 connection per worker, framed by hand. A general client library uses more CPU per
// call than the server, and on two cores it would take that time from the server.
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { fromJson, pb, serviceDefinition } from "@lattice/wire";
import { type Connection, type LoadSettings, runLoad } from "./load.ts";

const settings = JSON.parse(process.argv[2] ?? "{}") as LoadSettings;
const submit = serviceDefinition(pb.AllocationService).Submit;
if (submit === undefined) throw new Error("the contract has no Submit");
const message = submit.requestSerialize(fromJson(pb.SubmitRequestSchema, { allocation: settings.body }));
/** The gRPC frame: compression flag, length, message. */
const frame = Buffer.alloc(5 + message.length);
frame.writeUInt32BE(message.length, 1);
frame.set(message, 5);
const headers = {
  ":method": "POST",
  ":path": submit.path,
  "content-type": "application/grpc",
  te: "trailers",
};
/** More than the five bytes of the frame header, so there is a response in it. */
const MIN_ANSWER_BYTES = 6;

const sessions: ClientHttp2Session[] = [];

function connect(): Connection {
  const session = connectHttp2(`http://${settings.address}`);
  sessions.push(session);
  return () =>
    new Promise((resolve, reject) => {
      const stream = session.request(headers);
      let status: unknown;
      let bytes = 0;
      stream.once("error", reject);
      stream.once("trailers", (trailers) => {
        status = trailers["grpc-status"];
      });
      stream.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      stream.once("end", () => {
        if (status === "0" && bytes >= MIN_ANSWER_BYTES) resolve();
        else reject(new Error(`gRPC status ${String(status)}, ${bytes} bytes`));
      });
      stream.end(frame);
    });
}

await runLoad(settings, connect);
for (const session of sessions) session.close();
