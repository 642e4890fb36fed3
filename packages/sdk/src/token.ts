// The token of a call: fixed, or from a function for programs that outlive a token. A call rejected for its token was not
// executed, so it is repeated once with a new one.

import { LatticeError } from "./error.ts";

/**
 * Called before every request, and again with the token that the server refused. Returning the same token then means
 * that there is no other.
 */
export type TokenSource = (refused?: string) => string | undefined | Promise<string | undefined>;

export const sourceOf = (token: string | TokenSource | undefined): TokenSource =>
  typeof token === "function" ? token : () => token;

export async function bearing<T>(source: TokenSource, run: (token: string | undefined) => Promise<T>): Promise<T> {
  const token = await source();
  try {
    return await run(token);
  } catch (error) {
    if (token === undefined || !isUnauthenticated(error)) throw error;
    const other = await source(token);
    if (other === undefined || other === token) throw error;
    return run(other);
  }
}

export const bearerHeader = (token: string | undefined): Readonly<Record<string, string>> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** The server ended a stream because its token expired; the stream can be resumed with the current token. */
export const hasLapsed = (error: unknown): boolean =>
  isUnauthenticated(error) && error instanceof LatticeError && error.httpStatus === 0;

const isUnauthenticated = (error: unknown): boolean =>
  error instanceof LatticeError && error.problem.code === "unauthenticated";
