// Parts of a process that must be closed, in reverse order of their opening. A part that fails to close does not keep
// the others open.

export interface CloseStack {
  /** Returns the part itself, so that opening and registering is one expression. */
  push<T extends { close(): unknown }>(part: T): T;
  onClose(close: () => unknown): void;
  /** Closes everything once; rejects with the first error after all parts were closed. */
  close(): Promise<void>;
}

export function createCloseStack(): CloseStack {
  const closers: (() => unknown)[] = [];
  return {
    push(part) {
      closers.push(() => part.close());
      return part;
    },
    onClose: (close) => void closers.push(close),
    async close() {
      const errors: unknown[] = [];
      for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
        try {
          await close();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    },
  };
}
