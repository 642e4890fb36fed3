// The default login flow by environment.

import { expect, test } from "vitest";
import { chooseFlow } from "../src/login/choose-flow.ts";

const DESKTOP = { DISPLAY: ":0" };

test.each([
  ["a desktop", { env: DESKTOP }, "browser", ""],
  ["a desktop with Wayland", { env: { WAYLAND_DISPLAY: "wayland-0" } }, "browser", ""],
  ["a Mac", { env: {}, platform: "darwin" }, "browser", ""],
  ["no display", { env: {} }, "device", "no display"],
  ["an empty display", { env: { DISPLAY: "" } }, "device", "no display"],
  ["a remote shell, with a display passed on", { env: { ...DESKTOP, SSH_CONNECTION: "1 2 3 4" } }, "device", "remote"],
  ["a remote shell on a Mac", { env: { SSH_TTY: "/dev/ttys1" }, platform: "darwin" }, "device", "remote"],
  ["the port in use", { env: DESKTOP, isPortFree: false }, "device", "in use"],
  ["no display, and no codes", { env: {}, supportsDevice: false }, "browser", ""],
  ["the port in use, and no codes", { env: DESKTOP, isPortFree: false, supportsDevice: false }, "browser", ""],
] as const)("%s", (_, given, flow, why) => {
  const chosen = chooseFlow({ platform: "linux", supportsDevice: true, isPortFree: true, ...given });
  expect(chosen.flow).toBe(flow);
  expect(chosen.why).toContain(why);
});
