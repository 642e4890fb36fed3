// Tokens as WebSocket protocol names: tokens survive the round trip; other values are rejected.

import { bearerFromProtocols, offeredProtocols, protocolsWith, SOCKET_PROTOCOL, withoutBearer } from "@lattice/wire";
import fc from "fast-check";
import { expect, test } from "vitest";

test("any token survives a round trip in valid characters", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 2_000 }), (token) => {
      const header = protocolsWith(token).join(", ");
      expect(header).toMatch(/^[A-Za-z0-9._, -]+$/);
      expect(bearerFromProtocols(offeredProtocols(header))).toBe(token);
    }),
  );
});

test("an invalid protocol has no token", () => {
  for (const header of [undefined, "", "chat", "lattice.bearer.", "lattice.bearer.!!", "lattice.bearer.a"])
    expect(bearerFromProtocols(offeredProtocols(header))).toBeNull();
});

test("services see neither the token nor the server's protocol", () => {
  const offered = ["chat", ...protocolsWith("secret"), "v2"];
  expect(withoutBearer(offered)).toEqual(["chat", "v2"]);
  expect(offered).toContain(SOCKET_PROTOCOL);
});
