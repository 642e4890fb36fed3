// Ports of a node that belong to root (finding 19 of the review): with network domains, a process of root's listened on
// whatever port a user exposed.
import { connect } from "node:net";
import { expect, test } from "vitest";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const secured = useSecuredCluster({ agentArgs: ["--network", "linux"] });
/** Of a directory of users; nothing listens there on a machine for tests. */
const PORT = 636;

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

test("a user's service gets no port of root's", async () => {
  const submit = ["submit", "-q", "--network-domain=own", `--expose=ldap:${PORT}`, "--service", "--", "sleep", "600"];
  const { stdout, stderr, code } = await secured.as(mallory, submit);
  expect(code, stderr).toBe(0);
  const id = stdout.trim();
  const ended = await secured.ends(id);
  expect(ended.state).toBe("failed");
  expect(ended.message ?? "").toContain(`port ${PORT} cannot be exposed`);
  expect(await answers(PORT)).toBe(false);
});
