// Submissions over gRPC: one channel, and so one connection, per worker.
import { Client, credentials } from "@grpc/grpc-js";
import { fromJson, pb, serviceDefinition } from "@lattice/wire";
import { type Connection, type LoadSettings, runLoad } from "./load.ts";

const settings = JSON.parse(process.argv[2] ?? "{}") as LoadSettings;
const submit = serviceDefinition(pb.AllocationService).Submit;
if (submit === undefined) throw new Error("the contract has no Submit");
const message = fromJson(pb.SubmitRequestSchema, { allocation: settings.body });
const { path, requestSerialize, responseDeserialize } = submit;

function connect(): Connection {
  const client = new Client(settings.address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  return () =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
}

await runLoad(settings, connect);
