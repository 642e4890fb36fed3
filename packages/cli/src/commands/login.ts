// `lattice login`: gets a token from the server's identity provider and stores it. The flow is a browser, a code on
// another device (--flow device), or a pasted token (--flow manual); by default the best available one.

import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { ProblemError } from "@lattice/wire";
import { type Command, Option } from "commander";
import { createContext } from "../context.ts";
import { isCallbackPortFree } from "../login/callback.ts";
import { chooseFlow, type Flow } from "../login/choose-flow.ts";
import type { Login, LoginPrompts } from "../login/provider.ts";
import type { CachedToken } from "../login/token-cache.ts";
import { claimsOf } from "../login/token-claims.ts";
import { storeToken } from "../login/token-store.ts";
import { withSpinner } from "../output/progress.ts";

interface LoginFlags {
  readonly flow?: Flow;
  readonly device?: boolean;
  readonly manual?: boolean;
  readonly scope?: string;
}

interface Discovery {
  readonly authentication?: string;
  readonly issuer?: string;
  readonly client_id?: string;
  /** Scopes that clients should request, separated by spaces. */
  readonly scopes?: string;
  readonly detail?: string;
}

export function define(command: Command): void {
  command
    .addOption(new Option("--flow <how>", "login flow").choices(["browser", "device", "manual"]))
    .option("--device", "same as --flow device: a code on another device")
    .option("--manual", "same as --flow manual: paste or pipe a token")
    .option("--scope <words>", "additional scopes, separated by spaces or commas (default: those of the server)")
    .option("--server <address>", "server to log in to, same as --url")
    .action(async (flags: LoginFlags) => {
      const context = await createContext(command);
      const { client, settings, print } = context;
      const found = (await client.discovery()) as Discovery;
      if (found.authentication === "none") {
        print.note(`${settings.url} needs no login.`);
        return;
      }
      const token = await obtain(found, flags, {
        // Printed even with --quiet, because the login needs it.
        show: (line) => void process.stderr.write(`${line}\n`),
        wait: (text, work) => withSpinner(context, text, work),
      });
      await storeToken(process.env, settings.url, token);
      print.note(
        `Logged in to ${settings.url}; the token is valid until ${new Date(token.expiresAtMs).toISOString()}.`,
      );
    });
}

/** Returns null when no flow is named. */
function flowOf({ flow, device, manual }: LoginFlags): Flow | null {
  const named = [...(flow === undefined ? [] : [flow]), ...(device ? ["device"] : []), ...(manual ? ["manual"] : [])];
  if (new Set(named).size < 2) return (named[0] ?? null) as Flow | null;
  throw new ProblemError("invalid_argument", {
    detail: `${named.join(" and ")} cannot be combined`,
    hint: "Name one login flow.",
  });
}

async function obtain(found: Discovery, flags: LoginFlags, prompts: LoginPrompts): Promise<CachedToken> {
  const { show } = prompts;
  const flow = flowOf(flags);
  const { issuer, client_id: clientId } = found;
  if (flow === "manual" || issuer === undefined || clientId === undefined) {
    if (flow !== "manual") {
      throw new ProblemError("invalid_argument", {
        detail: found.detail ?? "the server names no identity provider",
        hint: "Run: lattice login --manual, and paste a token; or set LATTICE_TOKEN.",
      });
    }
    return fromInput(issuer ?? "", clientId ?? "");
  }
  const provider = await import("../login/provider.ts");
  const scopes = (flags.scope ?? found.scopes ?? "").split(/[\s,]+/).filter((word) => word !== "");
  const name = { issuer, clientId, scopes };
  if ((flow ?? (await chooseDefaultFlow(name, show))) === "device") return provider.logInByDevice(name, prompts);
  const open = (address: string): void => {
    show(`Opening your browser. If it does not open, go to\n  ${address}`);
    const opener = process.platform === "darwin" ? "open" : "xdg-open";
    spawn(opener, [address], { stdio: "ignore", detached: true })
      .on("error", () => {})
      .unref();
  };
  return provider.logInByBrowser(name, open, prompts.wait);
}

/** Chooses the flow, and tells the user when it is not the browser. */
async function chooseDefaultFlow(name: Login, show: (line: string) => void): Promise<Flow> {
  const provider = await import("../login/provider.ts");
  const { flow, why } = chooseFlow({
    env: process.env,
    platform: process.platform,
    supportsDevice: await provider.supportsDevice(name),
    isPortFree: await isCallbackPortFree(),
  });
  if (why !== "") show(`Logging in with a device code, because ${why}. To use a browser: lattice login --flow browser`);
  return flow;
}

async function fromInput(issuer: string, clientId: string): Promise<CachedToken> {
  const accessToken = await readPastedToken();
  const exp = claimsOf(accessToken)?.exp;
  if (typeof exp !== "number") {
    throw new ProblemError("invalid_argument", {
      detail: "the input is not a token",
      hint: "Paste or pipe the token itself: three parts separated by dots.",
    });
  }
  if (exp * 1_000 <= Date.now()) {
    throw new ProblemError("invalid_argument", {
      detail: `the token expired at ${new Date(exp * 1_000).toISOString()}`,
      hint: "Get a new token.",
    });
  }
  return { accessToken, refreshToken: null, expiresAtMs: exp * 1_000, issuer, clientId };
}

/** Longer than any token: more is a paste by mistake. */
const MAX_CHARACTERS = 65_536;
const ENTER = /[\r\n\u0004]/;
const INTERRUPT = "\u0003";
const BACKSPACE = "\u007f";

const readPastedToken = async (): Promise<string> =>
  (process.stdin.isTTY === true
    ? await readHidden("Paste the token and press Enter: ")
    : await text(process.stdin)
  ).trim();

/** Reads key by key, because a terminal in line mode cuts lines at 4,096 characters. */
function readHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  return new Promise((resolve, reject) => {
    let typed = "";
    const end = (): void => {
      stdin.off("data", take);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write("\n");
    };
    const take = (chunk: Buffer): void => {
      for (const key of chunk.toString()) {
        if (ENTER.test(key) || typed.length > MAX_CHARACTERS) {
          end();
          return void resolve(typed);
        }
        if (key === INTERRUPT) {
          end();
          return void reject(new ProblemError("invalid_argument", { detail: "login cancelled", hint: "" }));
        }
        typed = key === BACKSPACE ? typed.slice(0, -1) : typed + key;
      }
    };
    // Echo off before the question, so that an early paste is not shown.
    stdin.setRawMode(true);
    stderr.write(question);
    stdin.on("data", take);
    stdin.resume();
  });
}
