// The addresses to which the proxy to services connects, and the ones that it refuses.

import { isIP } from "node:net";
import type { ServiceEndpoint } from "@lattice/core";
import { expect, test } from "vitest";
import { type OwnMachine, reachableAddress, refusal } from "../../src/api/rest/proxy/reach.ts";
import { createLiveConfig, loadConfig } from "../../src/base/config/index.ts";

const LOCAL: OwnMachine = {
  addresses: new Set(["10.0.0.1", "fd00::1"]),
  ports: new Set([8080, 2379]),
  onLoopbackOnly: true,
};
const PUBLIC: OwnMachine = { ...LOCAL, onLoopbackOnly: false };
const why = (address: string, port: number, own: OwnMachine) =>
  refusal({ address, family: isIP(address) === 6 ? 6 : 4 }, port, own);

test.each(["10.0.0.2", "192.168.1.9", "130.1.2.3", "fd00::2", "2001:db8::7", "::ffff:10.0.0.2"])(
  "%s is an address of a node",
  (address) => {
    expect([why(address, 80, LOCAL), why(address, 2379, PUBLIC)]).toEqual([null, null]);
  },
);

test.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:7f00:0001"])(
  "loopback %s is reached by a server on loopback only, without the server's own ports",
  (address) => {
    expect(why(address, 9999, LOCAL)).toBeNull();
    expect(why(address, 2379, LOCAL)).toBe("it is a port of the server");
    expect(why(address, 9999, PUBLIC)).toBe("it is the machine of the server");
  },
);

test.each([
  ...["0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.1", "255.255.255.255", "::", "::127.0.0.1", "::7f00:1"],
  ...[
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::1",
    "::ffff:169.254.169.254",
    "::ffff:0:0",
  ],
])("%s is refused", (address) => {
  expect([why(address, 80, LOCAL), why(address, 80, PUBLIC)]).toEqual([
    "it is not an address of a node",
    "it is not an address of a node",
  ]);
});

test.each(["10.0.0.1", "fd00::1", "::ffff:10.0.0.1", "FD00:0::1"])(
  "%s of the server's machine is refused",
  (address) => {
    for (const own of [LOCAL, PUBLIC]) expect(why(address, 80, own)).toBe("it is the machine of the server");
  },
);

test("names are resolved before they are checked, and ports of other members are refused", async () => {
  const file = loadConfig(null, { quorum: { peers: [{ id: 2, address: "10.9.9.9:9000" }] } } as never);
  const { config } = createLiveConfig({ file, settings: () => [], onWarning: () => undefined });
  const reach = (address: string, port: number) =>
    reachableAddress({ config, listening: new Set([8080]) }, { node: "n1", address, port } as ServiceEndpoint);
  await expect(reach("localhost", 8080)).rejects.toThrow("it is a port of the server");
  await expect(reach("localhost", 8081)).resolves.toMatchObject({ family: expect.any(Number) });
  await expect(reach("10.9.9.9", 9000)).rejects.toThrow("it is a port of a server");
  await expect(reach("10.9.9.9", 9001)).resolves.toEqual({ address: "10.9.9.9", family: 4 });
  await expect(reach("", 80)).rejects.toThrow("its address is not known");
  await expect(reach("no-such-host.invalid", 80)).rejects.toThrow("cannot be resolved");
});
