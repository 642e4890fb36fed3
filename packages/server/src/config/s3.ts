// How an object store is spoken to. The secret key is named by a reference or comes from the variables that AWS tools use;
// one that is written out is refused, since configurations are copied, kept in repositories and shown to many. The id of the
// key is no secret, and may be either.

import { z } from "zod";
import type { S3Options } from "../backup/stores/s3.ts";
import { section } from "./fields.ts";
import { type Environment, isReference, readSecret, type Secret } from "./secret.ts";

export const s3Section = () =>
  section({
    endpoint: z.url({ protocol: /^https?$/, error: "is not a URL, for example https://s3.example.com" }).optional(),
    region: z.string().min(1).optional(),
    access_key_id: z.string().min(1).optional(),
    secret_access_key: z.string().min(1).optional(),
  });

type ParsedS3 = z.output<ReturnType<typeof s3Section>>;
type Problem = { readonly path: string[]; readonly message: string };

/** `needed`: something is kept in an object store. */
export function s3Problems(s3: ParsedS3, environment: Environment, needed: boolean): readonly Problem[] {
  const keys = [
    { name: "access_key_id", read: keyId(s3, environment) },
    { name: "secret_access_key", read: secretKey(s3, environment) },
  ];
  const problems = keys.flatMap(({ name, read }) =>
    read?.kind === "missing" ? [{ path: ["s3", name], message: read.problem }] : [],
  );
  if (problems.length > 0 || !needed || s3Options(s3, environment) !== null) return problems;
  const message =
    "must have access_key_id and secret_access_key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY be set";
  return [{ path: ["s3"], message }];
}

/** Null: there are no credentials. */
export function s3Options(s3: ParsedS3, environment: Environment): S3Options | null {
  const id = keyId(s3, environment);
  const secret = secretKey(s3, environment);
  if (id?.kind !== "found" || secret?.kind !== "found") return null;
  const region = s3.region ?? environment.AWS_REGION ?? "us-east-1";
  const endpoint = s3.endpoint ?? environment.AWS_ENDPOINT_URL ?? `https://s3.${region}.amazonaws.com`;
  return { endpoint, region, accessKeyId: id.value, secretAccessKey: secret.value };
}

function keyId({ access_key_id: id }: ParsedS3, environment: Environment): Secret | null {
  if (id === undefined) return variable("AWS_ACCESS_KEY_ID", environment);
  return isReference(id) ? readSecret(id, environment) : { kind: "found", value: id };
}

const secretKey = ({ secret_access_key: key }: ParsedS3, environment: Environment): Secret | null =>
  key === undefined ? variable("AWS_SECRET_ACCESS_KEY", environment) : readSecret(key, environment);

function variable(name: string, environment: Environment): Secret | null {
  const value = environment[name] ?? "";
  return value === "" ? null : { kind: "found", value };
}
