// A double of the SPIRE agent: its Workload API on a socket, with the identity in a directory. It sends an update when
// the certificate file changes, and rejects requests without the required header.
//
//   node workload-api.mjs SOCKET FOLDER NAME
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, watchFile } from "node:fs";
import { join } from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";

const [socket, folder, name] = process.argv.slice(2);
const read = (file) => readFileSync(join(folder, file));

function response() {
  const cert = new X509Certificate(read(`${name}.crt`));
  const svid = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(`spiffe://test/agent/${name}`)
    .tag(2, WireType.LengthDelimited)
    .bytes(cert.raw)
    .tag(3, WireType.LengthDelimited)
    .bytes(createPrivateKey(read(`${name}.key`)).export({ type: "pkcs8", format: "der" }))
    .tag(4, WireType.LengthDelimited)
    .bytes(new X509Certificate(read("ca.crt")).raw)
    .finish();
  return Buffer.from(new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(svid).finish());
}

const definition = {
  FetchX509SVID: {
    path: "/SpiffeWorkloadAPI/FetchX509SVID",
    requestStream: false,
    responseStream: true,
    requestSerialize: (x) => x,
    requestDeserialize: (x) => x,
    responseSerialize: (x) => x,
    responseDeserialize: (x) => x,
  },
};
const server = new Server();
server.addService(definition, {
  FetchX509SVID(call) {
    if (call.metadata.get("workload.spiffe.io")[0] !== "true")
      return call.emit("error", { code: status.INVALID_ARGUMENT, details: "security header missing from request" });
    call.write(response());
    watchFile(join(folder, `${name}.crt`), { interval: 100 }, () => {
      try {
        call.write(response());
      } catch {
        // A renewal is in progress; the next change triggers an update.
      }
    });
  },
});
server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), () => process.stdout.write('{"ready":true}\n'));
