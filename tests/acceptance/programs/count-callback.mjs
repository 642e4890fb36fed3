// Counts steps into a file and takes checkpoints when its agent calls. It defers the first one briefly and reports
// progress. The few messages are encoded by hand.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import grpc from "@grpc/grpc-js";

const [, , diary, finish] = process.argv;
const from = process.env.LATTICE_RESUME_FROM;
let n = from === undefined ? 0 : Number(readFileSync(join(from, "count"), "utf8"));
let paused = false;

setInterval(() => {
  if (paused) return;
  if (existsSync(finish)) process.exit(0);
  n += 1;
  appendFileSync(diary, `${n}\n`);
}, 20);

const service = {
  TakeCheckpoint: {
    path: "/lattice.v1.CheckpointCallback/TakeCheckpoint",
    requestStream: false,
    responseStream: true,
    requestSerialize: (bytes) => bytes,
    requestDeserialize: readRequest,
    responseSerialize: writeResponse,
    responseDeserialize: (bytes) => bytes,
  },
};

const server = new grpc.Server();
server.addService(service, {
  TakeCheckpoint: (call) => void take(call),
});

async function take(call) {
  const { directory, stopAfter } = call.request;
  call.write({ estimatedSeconds: 1 });
  if (from === undefined) {
    call.write({ deferSeconds: 1 });
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  paused = true;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "count"), String(n));
  call.write({ percent: 90 });
  call.write({ done: String(n).length });
  call.end();
  if (!stopAfter) paused = false;
  else setTimeout(() => process.exit(0), 50);
}

server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_error, port) => {
  writeFileSync(process.env.LATTICE_CHECKPOINT_ENDPOINT, `127.0.0.1:${port}`);
});

function readRequest(bytes) {
  const found = { number: 0, directory: "", stopAfter: false };
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const field = varint() >> 3;
    const value = varint();
    if (field === 1) found.number = value;
    if (field === 3) found.stopAfter = value === 1;
    if (field !== 2) continue;
    found.directory = Buffer.from(bytes.subarray(at, at + value)).toString();
    at += value;
  }
  return found;
}

function writeResponse({ estimatedSeconds, percent, deferSeconds, done }) {
  if (estimatedSeconds !== undefined) return Buffer.from([0x08, estimatedSeconds]);
  if (percent !== undefined) return Buffer.from([0x10, percent]);
  if (deferSeconds !== undefined) return Buffer.from([0x18, deferSeconds]);
  const answer = Buffer.alloc(9, 0x21);
  answer.writeDoubleLE(done, 1);
  return answer;
}
