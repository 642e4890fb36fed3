// Pages from elsewhere that may call the API from a browser. Only where callers prove who they are: a page that is
// let in elsewhere would act for whoever happens to look at it.

import { z } from "zod";
import type { AuthConfig } from "./auth.ts";

/** A site has a portal or two. */
const MAX_ORIGINS = 32;

const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text,
    "must be an origin, such as https://portal.example.org",
  );

export const originFields = { allowed_origins: z.array(origin).max(MAX_ORIGINS).default([]) };

export function originProblems(
  { allowed_origins: allowed }: { readonly allowed_origins: readonly string[] },
  auth: AuthConfig["kind"],
): readonly { readonly path: string[]; readonly message: string }[] {
  if (allowed.length === 0 || auth !== "none") return [];
  return [
    { path: ["allowed_origins"], message: "needs authentication (oidc_issuer): a page acts for who looks at it" },
  ];
}
