// A location in an object store: s3://bucket/prefix.

export interface S3Place {
  readonly bucket: string;
  /** Without leading and trailing slashes; may be empty. */
  readonly prefix: string;
}

/** Returns `null` for text that is not an s3:// location. */
export function parseS3(text: string): S3Place | null {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text);
  if (match === null) return null;
  const prefix = (match[2] ?? "").replaceAll(/^\/+|\/+$/g, "");
  return prefix.split("/").includes("..") ? null : { bucket: match[1] ?? "", prefix };
}
