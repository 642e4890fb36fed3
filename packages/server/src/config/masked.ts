// How a value of the configuration is shown to whoever may ask for it. A secret that is named by a reference is shown as that
// reference, one that is written out is only said to be there, and addresses lose what lets one in: names and passwords, what
// stands after a question mark, and of webhooks the path, which with many receivers is the secret.

import { isReference } from "./secret.ts";

export const IS_SET = "(set)";

/** By the end of its name, so that a key that comes later is held back as well. */
const SECRET = /(^|_)(secret|token|password|passphrase|credentials|access_key_id|secret_access_key)$/;
const HOOKS = "notifications.webhooks";

export function masked(key: string, value: unknown): unknown {
  const name = key.slice(key.lastIndexOf(".") + 1);
  if (typeof value === "string") {
    if (SECRET.test(name)) return isReference(value) ? value : IS_SET;
    return addressOf(value, key.startsWith(HOOKS) && name === "url");
  }
  if (Array.isArray(value)) return value.map((item) => masked(key, item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, masked(`${key}.${inner}`, item)]));
}

function addressOf(text: string, hidePath: boolean): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text;
  const url = new URL(text);
  const lettingIn = url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "";
  if (hidePath) return `${url.origin}/${IS_SET}`;
  return lettingIn ? `${url.origin}${url.pathname} ${IS_SET}` : text;
}
