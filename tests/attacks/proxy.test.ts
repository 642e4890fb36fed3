// Finding 12: the proxy to services as a way into the server's machine. A user exposes ports of etcd and of the server
// as its own service and calls them through the proxy.
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePorts } from "../harness/quorum.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const [client = 0, peer = 0, own = 0] = await freePorts(3);
const mallory = useAccount("m");
const secured = useSecuredCluster({
  serverArgs: ["--bootstrap"],
  config: `quorum:
  engine: etcd
  etcd: { managed: true, client_listen: "127.0.0.1:${client}", peer_address: "127.0.0.1:${peer}" }
`,
});

interface Proxied {
  readonly code?: string;
  readonly detail?: string;
  readonly kvs?: readonly unknown[];
}

async function through(name: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${await secured.token("--user", mallory.name, "--tenant", "default")}` };
  return secured.cluster.api<Proxied>(body === undefined ? "GET" : "POST", `/services/${name}/proxy${path}`, {
    headers,
    ...(body === undefined ? {} : { body }),
  });
}

/** One job that exposes ports of the server as its services, and a service of its own. */
beforeAll(async () => {
  const portOf = (address: string) => Number(address.split(":").at(-1));
  const { restAddress, grpcAddress } = secured.cluster;
  const serve = `require("http").createServer((q,r)=>{r.setHeader("content-type","application/json");r.end('{"code":"mine"}')}).listen(${own},"127.0.0.1")`;
  const id = await secured.submit(mallory, {
    command: [process.execPath, "-e", serve],
    expose: [
      { name: "etcd-client", port: client },
      { name: "etcd-peer", port: peer },
      { name: "rest", port: portOf(restAddress) },
      { name: "grpc", port: portOf(grpcAddress) },
      { name: "mine", port: own },
    ],
  });
  await secured.reaches(id, ["running"]);
});

test("a service of the user on the server's machine is reached", async () => {
  await eventually({ what: "the service answers" }, async () => {
    const answer = await through("mine", "/").catch(() => null);
    return answer?.body.code === "mine" ? true : null;
  });
});

test("the keys of etcd cannot be read through a service that exposes its port", async () => {
  const everything = {
    key: Buffer.from("/").toString("base64"),
    range_end: Buffer.from("0").toString("base64"),
    limit: 3,
  };
  for (const name of ["etcd-client", "etcd-peer"]) {
    const answer = await through(name, "/v3/kv/range", everything);
    expect(answer.body).toMatchObject({ code: "node_unreachable" });
    expect(answer.body.detail).toContain("it is a port of the server");
  }
});

test("the server does not call itself for a user", async () => {
  for (const name of ["rest", "grpc"])
    expect((await through(name, "/healthz")).body).toMatchObject({ code: "node_unreachable" });
});
