// The local HTTP server that a browser is redirected to at the end of a login. Its page reports the outcome, so the
// response waits for the token exchange. Any user of this machine can call the address: a request without the state of
// this login is rejected and does not end the wait.

import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { ProblemError } from "@lattice/wire";

/** Registered as redirect URL at identity providers. */
const CALLBACK_PORT = 8400;
export const CALLBACK_URL = `http://localhost:${CALLBACK_PORT}/callback`;
const CALLBACK_WAIT_MS = 300_000;

interface ExpectedCallback<T> {
  readonly state: string;
  /** Exchanges the redirect URL for the result of the login. */
  readonly accept: (came: URL) => Promise<T>;
}

/** Whether a browser can be redirected to this machine. */
export function isCallbackPortFree(): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(CALLBACK_PORT, "localhost", () => server.close(() => resolve(true)));
  });
}

export function waitForCallback<T>(expected: ExpectedCallback<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      server.close();
      settle();
    };
    const server = createServer(
      callbackListener(
        expected,
        (login) => finish(() => resolve(login)),
        (error) => finish(() => reject(error)),
      ),
    );
    const timer = setTimeout(
      () =>
        finish(() => reject(loginError(`the browser was not redirected within ${CALLBACK_WAIT_MS / 60_000} minutes`))),
      CALLBACK_WAIT_MS,
    );
    server.once("error", (error) =>
      finish(() => reject(loginError(`port ${CALLBACK_PORT} is not free: ${error.message}`))),
    );
    server.listen(CALLBACK_PORT, "localhost");
  });
}

/** The first request with the state of this login decides it. */
export function callbackListener<T>(
  { state, accept }: ExpectedCallback<T>,
  done: (login: T) => void,
  failed: (error: ProblemError) => void,
): RequestListener {
  let answered = false;
  return (request, answer) => {
    const url = new URL(request.url ?? "/", CALLBACK_URL);
    if (url.pathname !== "/callback") return void answer.writeHead(404).end();
    if (answered || url.searchParams.get("state") !== state)
      return void respond(answer, 400, "This request does not belong to a login in progress. Nothing has changed.");
    answered = true;
    const settled = providerError(url) ?? accept(url);
    settled.then(
      (login) => {
        respond(answer, 200, "You are logged in to Lattice. You can close this page.");
        done(login);
      },
      (error: unknown) => {
        const problem = error instanceof ProblemError ? error : loginError(String(error));
        respond(answer, 400, `You are not logged in to Lattice: ${problem.problem.detail}.`);
        failed(problem);
      },
    );
  };
}

/** Returns a rejection when the provider sent an error instead of a code. */
function providerError({ searchParams }: URL): Promise<never> | null {
  const error = searchParams.get("error");
  if (error === null) return null;
  const why = searchParams.get("error_description");
  return Promise.reject(loginError(why === null ? plain(error) : `${plain(error)}: ${plain(why)}`));
}

/** Removes control characters, because the text is shown in a terminal. */
const plain = (text: string): string => text.replace(/[^ -~]/g, "?").slice(0, 200);

function respond(answer: ServerResponse, status: number, text: string): void {
  answer.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  answer.end(`${text}\n`);
}

export const loginError = (detail: string): ProblemError =>
  new ProblemError("unauthenticated", {
    detail: `the identity provider did not log you in: ${detail}`,
    hint: "Run: lattice login --device, or: lattice login --manual with a token from elsewhere",
  });
