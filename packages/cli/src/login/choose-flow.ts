// Which way to log in when none is named: by a browser where one can be opened, else by a code on another device if
// the provider offers that. Each choice that is not the usual one comes with its reason, for people to read.

export type Flow = "browser" | "device" | "manual";

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** The provider gives codes for other devices. */
  readonly offersDevice: boolean;
  /** The browser could be sent back to this machine. */
  readonly portFree: boolean;
}

export interface Choice {
  readonly flow: "browser" | "device";
  /** Empty: the usual way. */
  readonly why: string;
}

export function chooseFlow({ env, platform, offersDevice, portFree }: Surroundings): Choice {
  if (!offersDevice) return { flow: "browser", why: "" };
  if (isSet(env.SSH_CONNECTION) || isSet(env.SSH_TTY)) return byDevice("this is a remote shell");
  const screen = platform !== "linux" || isSet(env.DISPLAY) || isSet(env.WAYLAND_DISPLAY);
  if (!screen) return byDevice("there is no display for a browser");
  return portFree ? { flow: "browser", why: "" } : byDevice("the port for the browser's answer is in use");
}

const byDevice = (why: string): Choice => ({ flow: "device", why });

const isSet = (value: string | undefined): boolean => value !== undefined && value !== "";
