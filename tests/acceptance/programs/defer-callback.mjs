// Defers every checkpoint request and never takes one. The few messages are encoded by hand.
import { writeFileSync } from "node:fs";
import grpc from "@grpc/grpc-js";

const ASKED_SECONDS = 60;
const service = {
  TakeCheckpoint: {
    path: "/lattice.v1.CheckpointCallback/TakeCheckpoint",
    requestStream: false,
    responseStream: true,
    requestSerialize: (bytes) => bytes,
    requestDeserialize: (bytes) => bytes,
    responseSerialize: (seconds) => Buffer.from([0x18, seconds]),
    responseDeserialize: (bytes) => bytes,
  },
};
const server = new grpc.Server();
server.addService(service, {
  TakeCheckpoint: (call) => {
    call.on("error", () => undefined);
    call.write(ASKED_SECONDS);
    const again = setInterval(() => call.write(ASKED_SECONDS), 200);
    call.on("cancelled", () => clearInterval(again));
  },
});
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_error, port) => {
  writeFileSync(process.env.LATTICE_CHECKPOINT_ENDPOINT, `127.0.0.1:${port}`);
  writeFileSync(process.argv[2], "");
});
process.on("SIGTERM", () => process.exit(0));
