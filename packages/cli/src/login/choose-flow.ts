// Chooses the login flow when the user names none: a browser where one can be opened, else a code on another device if
// the provider supports that. A choice other than the browser comes with its reason, which the user is shown.

export type Flow = "browser" | "device" | "manual";

interface LoginEnvironment {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** The provider has a device authorization endpoint. */
  readonly supportsDevice: boolean;
  /** The callback port is free, so that a browser can be redirected here. */
  readonly isPortFree: boolean;
}

interface ChosenFlow {
  readonly flow: "browser" | "device";
  /** Empty for the default flow. */
  readonly why: string;
}

export function chooseFlow({
  env,
  platform,
  supportsDevice: offersDevice,
  isPortFree: portFree,
}: LoginEnvironment): ChosenFlow {
  if (!offersDevice) return { flow: "browser", why: "" };
  if (isSet(env.SSH_CONNECTION) || isSet(env.SSH_TTY)) return byDevice("this is a remote shell");
  const screen = platform !== "linux" || isSet(env.DISPLAY) || isSet(env.WAYLAND_DISPLAY);
  if (!screen) return byDevice("there is no display for a browser");
  return portFree ? { flow: "browser", why: "" } : byDevice("the port for the browser's answer is in use");
}

const byDevice = (why: string): ChosenFlow => ({ flow: "device", why });

const isSet = (value: string | undefined): boolean => value !== undefined && value !== "";
