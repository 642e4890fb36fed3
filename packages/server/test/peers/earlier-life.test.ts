// A leader that was killed and restarted keeps its old name and token in the election until the lease ends. Callers
// must get a retryable error meanwhile, not `forbidden`.

import { credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import type { Command } from "@lattice/core";
import { expect, test } from "vitest";
import { connectPeer } from "../../src/peers/client.ts";
import { type PeerServiceParts, peerService } from "../../src/peers/service.ts";

test("an outdated peer token is answered with not_leader, which callers retry", async () => {
  const { definition, implementation } = peerService({ token: "of this life" } as PeerServiceParts);
  const server = new Server();
  server.addService(definition, implementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const peer = { id: "s1", address: `127.0.0.1:${port}`, token: "of an earlier life", entryVersion: 2 };
  const client = connectPeer(peer, credentials.createInsecure());
  try {
    const asked = client.propose({ kind: "retention.set" } as Command);
    await expect(asked).rejects.toMatchObject({ problem: { code: "not_leader" } });
  } finally {
    client.close();
    server.forceShutdown();
  }
});
