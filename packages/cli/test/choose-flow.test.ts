// The way to log in that fits, as a table.

import { expect, test } from "vitest";
import { chooseFlow } from "../src/login/choose-flow.ts";

const DESK = { DISPLAY: ":0" };

test.each([
  ["a desk", { env: DESK }, "browser", ""],
  ["a desk with Wayland", { env: { WAYLAND_DISPLAY: "wayland-0" } }, "browser", ""],
  ["a Mac", { env: {}, platform: "darwin" }, "browser", ""],
  ["no display", { env: {} }, "device", "no display"],
  ["an empty display", { env: { DISPLAY: "" } }, "device", "no display"],
  ["a remote shell, with a display passed on", { env: { ...DESK, SSH_CONNECTION: "1 2 3 4" } }, "device", "remote"],
  ["a remote shell on a Mac", { env: { SSH_TTY: "/dev/ttys1" }, platform: "darwin" }, "device", "remote"],
  ["the port in use", { env: DESK, portFree: false }, "device", "in use"],
  ["no display, and no codes", { env: {}, offersDevice: false }, "browser", ""],
  ["the port in use, and no codes", { env: DESK, portFree: false, offersDevice: false }, "browser", ""],
] as const)("%s", (_, given, flow, why) => {
  const chosen = chooseFlow({ platform: "linux", offersDevice: true, portFree: true, ...given });
  expect(chosen.flow).toBe(flow);
  expect(chosen.why).toContain(why);
});
