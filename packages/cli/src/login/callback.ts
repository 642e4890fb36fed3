// Where a browser comes back to at the end of a login. The page that it shows says how the login has come out, so the answer
// waits for that. Anybody on this machine can call the address: what does not carry the state of this login is turned away, and
// the wait goes on.

import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { ProblemError } from "@lattice/wire";

/** What providers are told to send browsers back to. */
const CALLBACK_PORT = 8400;
export const CALLBACK_URL = `http://localhost:${CALLBACK_PORT}/callback`;
const CALLBACK_WAIT_MS = 300_000;

export interface Expected<T> {
  readonly state: string;
  /** Makes of the address that the browser was sent to what the login is for. */
  readonly accept: (came: URL) => Promise<T>;
}

/** Whether a browser can be sent back here. */
export function isCallbackFree(): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(CALLBACK_PORT, "localhost", () => server.close(() => resolve(true)));
  });
}

export function waitForCallback<T>(expected: Expected<T>): Promise<T> {
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
    const timer = setTimeout(() => finish(() => reject(refusal("the browser did not come back"))), CALLBACK_WAIT_MS);
    server.once("error", (error) =>
      finish(() => reject(refusal(`port ${CALLBACK_PORT} is not free: ${error.message}`))),
    );
    server.listen(CALLBACK_PORT, "localhost");
  });
}

/** The first answer to this login settles it. */
export function callbackListener<T>(
  { state, accept }: Expected<T>,
  done: (login: T) => void,
  failed: (error: ProblemError) => void,
): RequestListener {
  let answered = false;
  return (request, answer) => {
    const url = new URL(request.url ?? "/", CALLBACK_URL);
    if (url.pathname !== "/callback") return void answer.writeHead(404).end();
    if (answered || url.searchParams.get("state") !== state)
      return void say(answer, 400, "This is no answer to a login that is under way here. Nothing has changed.");
    answered = true;
    const settled = refusedBy(url) ?? accept(url);
    settled.then(
      (login) => {
        say(answer, 200, "You are logged in to Lattice. You can close this page.");
        done(login);
      },
      (error: unknown) => {
        const problem = error instanceof ProblemError ? error : refusal(String(error));
        say(answer, 400, `You are not logged in to Lattice: ${problem.problem.detail}.`);
        failed(problem);
      },
    );
  };
}

/** What the provider says instead of a code. */
function refusedBy({ searchParams }: URL): Promise<never> | null {
  const error = searchParams.get("error");
  if (error === null) return null;
  const why = searchParams.get("error_description");
  return Promise.reject(refusal(why === null ? plain(error) : `${plain(error)}: ${plain(why)}`));
}

/** It ends up in a terminal. */
const plain = (text: string): string => text.replace(/[^ -~]/g, "?").slice(0, 200);

function say(answer: ServerResponse, status: number, text: string): void {
  answer.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  answer.end(`${text}\n`);
}

export const refusal = (detail: string): ProblemError =>
  new ProblemError("unauthenticated", {
    detail: `the identity provider did not log you in: ${detail}`,
    hint: "Try `lattice login --device`, or `lattice login --manual` with a token you have.",
  });
