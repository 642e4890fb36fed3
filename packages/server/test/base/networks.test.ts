// Networks in CIDR notation.

import { expect, test } from "vitest";
import { containsAddress, parseNetwork } from "../../src/base/auth/networks.ts";

test.each(["10.0.0.0/8", "10.1.2.3", "0.0.0.0/0", "2001:db8::/32", "::1"])("%s is a network", (text) => {
  expect(parseNetwork(text)).not.toBeNull();
});

test.each([
  "",
  "10.0.0.0/",
  "10.0.0.0/33",
  "10.0.0/8",
  "::/129",
  "10.0.0.0/8/8",
  "10.0.0.0/-1",
  "fe80::1%eth0",
  "rack-1",
])('"%s" is not a network', (text) => {
  expect(parseNetwork(text)).toBeNull();
  expect(containsAddress([text], "10.0.0.1")).toBe(false);
});

test.each<[string, string, boolean]>([
  ["10.1.0.0/16", "10.1.255.255", true],
  ["10.1.0.0/16", "10.2.0.0", false],
  ["10.1.2.3", "10.1.2.3", true],
  ["10.1.2.3", "10.1.2.4", false],
  ["2001:db8::/32", "2001:db8:1::1", true],
  ["2001:db8::/32", "2001:db9::1", false],
  ["0.0.0.0/0", "2001:db8::1", false],
  ["10.1.0.0/16", "", false],
  ["10.1.0.0/16", "localhost", false],
])("%s contains %s: %s", (network, address, contained) => {
  expect(containsAddress(["192.0.2.0/24", network], address)).toBe(contained);
});
