// The form of enrolment tokens: a prefix that tells them from the tokens of users, the id of the enrolment, and its secret.

export interface EnrolmentToken {
  readonly id: string;
  readonly secret: string;
}

const FORM = /^lte_([0-9a-f]{12})_([\w-]{43})$/;

export const enrolmentToken = ({ id, secret }: EnrolmentToken): string => `lte_${id}_${secret}`;

/** Returns null for any other token. */
export function parseEnrolmentToken(text: string): EnrolmentToken | null {
  const [, id, secret] = FORM.exec(text) ?? [];
  return id === undefined || secret === undefined ? null : { id, secret };
}
