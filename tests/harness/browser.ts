// A minimal browser for the pages of an identity provider: follows redirects with cookies, and fills in and submits forms
// until a page has none.

export interface LastPage {
  /** Text of the last page. */
  readonly text: string;
  readonly url: string;
}

const MAX_STEPS = 20;

export async function submitForms(start: string, fields: Readonly<Record<string, string>>): Promise<LastPage> {
  const cookies = new Map<string, string>();
  let request: { url: string; body?: URLSearchParams } = { url: start };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const answer = await fetch(request.url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(request.body === undefined ? {} : { method: "POST", body: request.body }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = (cookie.split(";")[0] ?? "").split("=");
      cookies.set(name, value);
    }
    const next = answer.headers.get("location");
    const text = await answer.text();
    if (next !== null) {
      request = { url: new URL(next, request.url).href };
      continue;
    }
    const form = formOf(text, request.url, fields);
    if (form === null) return { text, url: request.url };
    request = form;
  }
  throw new Error(`the pages at ${start} do not end`);
}

function formOf(html: string, at: string, fields: Readonly<Record<string, string>>) {
  const form = /<form\b([^>]*)>([\s\S]*?)<\/form>/i.exec(html);
  if (form === null) return null;
  const attribute = (text: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`, "i").exec(text)?.[1];
  const body = new URLSearchParams();
  for (const [tag] of (form[2] ?? "").matchAll(/<(?:input|button)\b[^>]*>/gi)) {
    const name = attribute(tag, "name");
    if (name !== undefined) body.set(name, fields[name] ?? attribute(tag, "value") ?? "");
  }
  return { url: new URL(attribute(form[1] ?? "", "action") ?? at, at).href, body };
}
