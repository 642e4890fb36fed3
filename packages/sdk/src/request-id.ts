// What makes a change safe to repeat: every change carries a request id, and each try of it the same one. It is made of
// `getRandomValues`, since pages that came over plain HTTP have no `randomUUID`.

const ID_BYTES = 16;

const newRequestId = (): string =>
  Array.from(globalThis.crypto.getRandomValues(new Uint8Array(ID_BYTES)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

/** The id that is given, or the one that the body has already, or a new one. */
export const withRequestId = (body: object, requestId?: string | undefined): object => ({
  ...body,
  request_id: requestId || ("request_id" in body && body.request_id) || newRequestId(),
});
