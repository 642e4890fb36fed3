// `lattice login`: gets a token from the identity provider that the server names, and keeps it. By a browser here, by a
// code entered elsewhere (--flow device, or --device), or by a token read from standard input (--flow manual, or --manual).

import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { ProblemError } from "@lattice/wire";
import { type Command, Option } from "commander";
import { createContext } from "../context.ts";
import { type CachedToken, writeToken } from "../login/token-cache.ts";
import { claimsOf } from "../login/token-claims.ts";

type Flow = "browser" | "device" | "manual";

interface LoginFlags {
  readonly flow?: Flow;
  readonly device?: boolean;
  readonly manual?: boolean;
}

interface Discovery {
  readonly authentication?: string;
  readonly issuer?: string;
  readonly client_id?: string;
  readonly detail?: string;
}

export function define(command: Command): void {
  command
    .addOption(new Option("--flow <how>", "how to log in").choices(["browser", "device", "manual"]))
    .option("--device", "the same as --flow device: with a code on another device")
    .option("--manual", "the same as --flow manual: read a token from standard input")
    .option("--server <address>", "the server to log in to, as --url")
    .action(async (flags: LoginFlags) => {
      const { client, settings, print } = await createContext(command);
      const found = (await client.discovery()) as Discovery;
      if (found.authentication === "none") {
        print.note(`${settings.url} asks nobody to log in.`);
        return;
      }
      const token = await obtain(found, flowOf(flags), (line) => print.note(line));
      writeToken(process.env, settings.url, token);
      print.note(`Logged in to ${settings.url}; the token is good until ${new Date(token.expiresAtMs).toISOString()}.`);
    });
}

function flowOf({ flow, device, manual }: LoginFlags): Flow {
  const named = [...(flow === undefined ? [] : [flow]), ...(device ? ["device"] : []), ...(manual ? ["manual"] : [])];
  if (new Set(named).size < 2) return (named[0] ?? "browser") as Flow;
  throw new ProblemError("invalid_argument", {
    detail: `${named.join(" and ")} exclude each other`,
    hint: "Name one way to log in.",
  });
}

async function obtain(found: Discovery, flow: Flow, show: (line: string) => void): Promise<CachedToken> {
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
  if (flow === "device") return provider.byDevice({ issuer, clientId }, show);
  return provider.byBrowser({ issuer, clientId }, (address) => {
    show(`Opening your browser. If it does not open, go to\n  ${address}`);
    const opener = process.platform === "darwin" ? "open" : "xdg-open";
    spawn(opener, [address], { stdio: "ignore", detached: true })
      .on("error", () => {})
      .unref();
  });
}

async function fromInput(issuer: string, clientId: string): Promise<CachedToken> {
  const accessToken = (await text(process.stdin)).trim();
  const exp = claimsOf(accessToken)?.exp;
  if (typeof exp !== "number") {
    throw new ProblemError("invalid_argument", {
      detail: "what came on standard input is not a token",
      hint: "Pipe the token itself: three parts with dots between them.",
    });
  }
  return { accessToken, refreshToken: null, expiresAtMs: exp * 1_000, issuer, clientId };
}
