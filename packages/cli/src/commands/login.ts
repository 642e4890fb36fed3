// `lattice login`: gets a token from the identity provider that the server names, and keeps it. By a browser here, by a
// code entered elsewhere (--flow device, or --device), or by a token read from standard input (--flow manual, or --manual);
// by whichever fits where none is named.

import { spawn } from "node:child_process";
import { ProblemError } from "@lattice/wire";
import { type Command, Option } from "commander";
import { createContext } from "../context.ts";
import { isCallbackFree } from "../login/callback.ts";
import { chooseFlow, type Flow } from "../login/choose-flow.ts";
import { pastedToken } from "../login/paste.ts";
import type { Login, Told } from "../login/provider.ts";
import type { CachedToken } from "../login/token-cache.ts";
import { claimsOf } from "../login/token-claims.ts";
import { keepToken } from "../login/token-store.ts";
import { whileShown } from "../output/progress.ts";

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
  /** What its clients should ask the provider for, with spaces between. */
  readonly scopes?: string;
  readonly detail?: string;
}

export function define(command: Command): void {
  command
    .addOption(new Option("--flow <how>", "how to log in").choices(["browser", "device", "manual"]))
    .option("--device", "the same as --flow device: with a code on another device")
    .option("--manual", "the same as --flow manual: paste a token, or pipe it in")
    .option(
      "--scope <words>",
      "what to ask the provider for besides, with spaces or commas between (default: what the server names)",
    )
    .option("--server <address>", "the server to log in to, as --url")
    .action(async (flags: LoginFlags) => {
      const context = await createContext(command);
      const { client, settings, print } = context;
      const found = (await client.discovery()) as Discovery;
      if (found.authentication === "none") {
        print.note(`${settings.url} asks nobody to log in.`);
        return;
      }
      const token = await obtain(found, flags, {
        // Nobody could log in without it, however quiet it is to be.
        show: (line) => void process.stderr.write(`${line}\n`),
        wait: (text, work) => whileShown(context, text, work),
      });
      await keepToken(process.env, settings.url, token);
      print.note(`Logged in to ${settings.url}; the token is good until ${new Date(token.expiresAtMs).toISOString()}.`);
    });
}

/** Null: none is named. */
function flowOf({ flow, device, manual }: LoginFlags): Flow | null {
  const named = [...(flow === undefined ? [] : [flow]), ...(device ? ["device"] : []), ...(manual ? ["manual"] : [])];
  if (new Set(named).size < 2) return (named[0] ?? null) as Flow | null;
  throw new ProblemError("invalid_argument", {
    detail: `${named.join(" and ")} exclude each other`,
    hint: "Name one way to log in.",
  });
}

async function obtain(found: Discovery, flags: LoginFlags, told: Told): Promise<CachedToken> {
  const { show } = told;
  const flow = flowOf(flags);
  const { issuer, client_id: clientId } = found;
  if (flow === "manual" || issuer === undefined || clientId === undefined) {
    if (flow !== "manual") {
      throw new ProblemError("invalid_argument", {
        detail: found.detail ?? "the server names no identity provider",
        hint: "Pipe a token into `lattice login --manual`, or set LATTICE_TOKEN.",
      });
    }
    return fromInput(issuer ?? "", clientId ?? "");
  }
  const provider = await import("../login/provider.ts");
  const scopes = (flags.scope ?? found.scopes ?? "").split(/[\s,]+/).filter((word) => word !== "");
  const name = { issuer, clientId, scopes };
  if ((flow ?? (await fittingFlow(name, show))) === "device") return provider.byDevice(name, told);
  const open = (address: string): void => {
    show(`Opening your browser. If it does not open, go to\n  ${address}`);
    const opener = process.platform === "darwin" ? "open" : "xdg-open";
    spawn(opener, [address], { stdio: "ignore", detached: true })
      .on("error", () => {})
      .unref();
  };
  return provider.byBrowser(name, open, told.wait);
}

/** Nobody named one. What is not the usual one is said. */
async function fittingFlow(name: Login, show: (line: string) => void): Promise<Flow> {
  const provider = await import("../login/provider.ts");
  const { flow, why } = chooseFlow({
    env: process.env,
    platform: process.platform,
    offersDevice: await provider.offersDevice(name),
    portFree: await isCallbackFree(),
  });
  if (why !== "") show(`Logging in by a code, since ${why}; --flow browser has a browser opened instead.`);
  return flow;
}

async function fromInput(issuer: string, clientId: string): Promise<CachedToken> {
  const accessToken = await pastedToken();
  const exp = claimsOf(accessToken)?.exp;
  if (typeof exp !== "number") {
    throw new ProblemError("invalid_argument", {
      detail: "what was given is not a token",
      hint: "Paste or pipe the token itself: three parts with dots between them.",
    });
  }
  if (exp * 1_000 <= Date.now()) {
    throw new ProblemError("invalid_argument", {
      detail: `the token was good until ${new Date(exp * 1_000).toISOString()}`,
      hint: "Have a new one made.",
    });
  }
  return { accessToken, refreshToken: null, expiresAtMs: exp * 1_000, issuer, clientId };
}
